//! Three real servers that vote: for what one server can't show (leader change, moving to another member).

use std::fmt::Write as _;

use super::private::{DemoError, PrivateZooKeeper, ServerOptions, free_port};

const MEMBERS: usize = 3;

/// Another way from one member to the port that a second one serves its followers at, such as through a proxy. Members
/// are counted from 0. Only a follower takes it: it connects to its leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detour {
    /// Whose connections go this way.
    pub from: usize,
    pub to: usize,
    /// The port on 127.0.0.1 it connects to instead, to follow that member.
    pub quorum: u16,
    /// The same, to vote with it; None for its own port.
    pub election: Option<u16>,
}

#[derive(Debug)]
pub struct PrivateEnsemble {
    members: Vec<PrivateZooKeeper>,
    ports: Vec<VotingPorts>,
}

#[derive(Clone, Copy, Debug)]
struct VotingPorts {
    quorum: u16,
    election: u16,
}

impl PrivateEnsemble {
    /// Starts all members and waits until each serves.
    pub async fn start(options: ServerOptions) -> Result<Self, DemoError> {
        let mut ensemble = Self::prepare(&options)?;
        ensemble.launch(&[]).await?;
        Ok(ensemble)
    }

    /// Takes ports and folders; starts nothing.
    pub fn prepare(options: &ServerOptions) -> Result<Self, DemoError> {
        let (mut members, mut ports) = (Vec::with_capacity(MEMBERS), Vec::with_capacity(MEMBERS));
        for _ in 0..MEMBERS {
            members.push(PrivateZooKeeper::prepare(options.clone())?);
            ports.push(VotingPorts { quorum: free_port()?, election: free_port()? });
        }
        Ok(Self { members, ports })
    }

    /// The ports at which each member serves its followers, while it leads, and votes.
    pub fn voting_ports(&self) -> impl ExactSizeIterator<Item = (u16, u16)> {
        self.ports.iter().map(|ports| (ports.quorum, ports.election))
    }

    /// Starts the members of a prepared ensemble and waits until each serves.
    pub async fn launch(&mut self, detours: &[Detour]) -> Result<(), DemoError> {
        for at in 0..self.members.len() {
            let lines = self.lines(at, detours);
            let Some(member) = self.members.get_mut(at) else { continue };
            member.write_id(at + 1)?;
            member.write_config(&lines)?;
            member.launch()?;
        }
        for member in &self.members {
            member.wait_until_serving().await?;
        }
        Ok(())
    }

    /// Starts one more server with the data of the others and waits until it serves. It becomes a member by a
    /// reconfiguration with the line that this gives.
    pub async fn add(&mut self, options: &ServerOptions) -> Result<String, DemoError> {
        let at = self.members.len();
        self.members.push(PrivateZooKeeper::prepare(options.clone())?);
        self.ports.push(VotingPorts { quorum: free_port()?, election: free_port()? });
        let lines = self.lines(at, &[]);
        if let Some(member) = self.members.last_mut() {
            member.write_id(at + 1)?;
            member.write_config(&lines)?;
            member.launch()?;
            member.wait_until_serving().await?;
        }
        Ok(lines.lines().next_back().unwrap_or_default().to_owned())
    }

    /// What one member's zoo.cfg says of all.
    fn lines(&self, from: usize, detours: &[Detour]) -> String {
        // A member that is gone shows by its closed connections at once; on a slow machine none is given up for being
        // late.
        let mut lines = String::from("initLimit=120\nsyncLimit=60\n");
        for (to, (ports, member)) in self.ports.iter().zip(&self.members).enumerate() {
            let detour = detours.iter().find(|detour| (detour.from, detour.to) == (from, to));
            let (id, quorum) = (to + 1, detour.map_or(ports.quorum, |detour| detour.quorum));
            let election = detour.and_then(|detour| detour.election).unwrap_or(ports.election);
            let _ = writeln!(
                lines,
                "server.{id}=127.0.0.1:{quorum}:{election}:participant;127.0.0.1:{}",
                member.client_port()
            );
        }
        lines
    }

    /// All members, comma separated, as a connect string.
    pub fn connect_string(&self) -> String {
        self.members.iter().map(PrivateZooKeeper::address).collect::<Vec<_>>().join(",")
    }

    pub fn members(&self) -> &[PrivateZooKeeper] {
        &self.members
    }

    /// The members, to stop or restart one.
    pub fn members_mut(&mut self) -> &mut [PrivateZooKeeper] {
        &mut self.members
    }
}
