//! Three real servers that vote: for what one server can't show (leader change, moving to another member).

use std::fmt::Write as _;

use super::private::{DemoError, PrivateZooKeeper, ServerOptions, free_port};

/// Members of a private ensemble.
const MEMBERS: usize = 3;

/// A private ensemble of three members.
#[derive(Debug)]
pub struct PrivateEnsemble {
    members: Vec<PrivateZooKeeper>,
}

impl PrivateEnsemble {
    /// Starts all members and waits until each serves.
    pub async fn start(options: ServerOptions) -> Result<Self, DemoError> {
        let mut members = Vec::with_capacity(MEMBERS);
        let mut lines = String::from("initLimit=10\nsyncLimit=5\n");
        for id in 1..=MEMBERS {
            let member = PrivateZooKeeper::prepare(options.clone())?;
            let (quorum, election) = (free_port()?, free_port()?);
            let _ = writeln!(lines, "server.{id}=127.0.0.1:{quorum}:{election}:participant;127.0.0.1:{}", member.client_port());
            members.push(member);
        }
        for (index, member) in members.iter_mut().enumerate() {
            member.write_id(index + 1)?;
            member.write_config(&lines)?;
            member.launch()?;
        }
        for member in &members {
            member.wait_until_serving().await?;
        }
        Ok(Self { members })
    }

    /// All members, comma separated, as a connect string.
    pub fn connect_string(&self) -> String {
        self.members.iter().map(PrivateZooKeeper::address).collect::<Vec<_>>().join(",")
    }

    /// The members.
    pub fn members(&self) -> &[PrivateZooKeeper] {
        &self.members
    }

    /// The members, to stop or restart one.
    pub fn members_mut(&mut self) -> &mut [PrivateZooKeeper] {
        &mut self.members
    }
}
