import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;
import org.apache.zookeeper.recipes.queue.DistributedQueue;

/**
 * Clients of Curator's recipes, and of ZooKeeper's own, each with a session and a thread of its own. Arguments, orders
 * and answers are those of kazoo_client.py; what a recipe takes is in {@link #recipe}.
 */
public final class CuratorClient {
    /** What a recipe does on command; null answers nothing yet. */
    private interface Verb {
        String run(String[] words) throws Exception;
    }

    /** Reports which znodes it made. Curator's other ways to create end in these three. */
    private static final class Told extends ZooKeeper {
        private final String name;

        Told(String name, String connect, int timeoutMs, Watcher watcher, boolean canBeReadOnly) throws Exception {
            super(connect, timeoutMs, watcher, canBeReadOnly);
            this.name = name;
        }

        @Override
        public String create(String path, byte[] data, List<ACL> acl, CreateMode mode) throws KeeperException, InterruptedException {
            return made(mode, super.create(path, data, acl, mode));
        }

        @Override
        public String create(String path, byte[] data, List<ACL> acl, CreateMode mode, Stat stat, long ttl)
                throws KeeperException, InterruptedException {
            return made(mode, super.create(path, data, acl, mode, stat, ttl));
        }

        @Override
        public void create(String path, byte[] data, List<ACL> acl, CreateMode mode, Create2Callback callback, Object context, long ttl) {
            Create2Callback telling = (code, asked, given, created, stat) -> {
                if (code == 0) {
                    made(mode, created);
                }
                callback.processResult(code, asked, given, created, stat);
            };
            super.create(path, data, acl, mode, telling, context, ttl);
        }

        private String made(CreateMode mode, String path) {
            // Parents are made as containers, by the way.
            if (!mode.isContainer()) {
                say(name, "made " + path);
            }
            return path;
        }
    }

    private static final Map<String, CuratorClient> CLIENTS = new HashMap<>();

    private final String name;
    private final int timeoutMs;
    private CuratorFramework curator;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread daemon = new Thread(task);
        daemon.setDaemon(true);
        return daemon;
    });
    private final Map<String, Verb> verbs = new HashMap<>();

    private CuratorClient(String name, int timeoutMs) {
        this.name = name;
        this.timeoutMs = timeoutMs;
    }

    private void open(String connect) throws InterruptedException {
        curator = CuratorFrameworkFactory.builder().connectString(connect).sessionTimeoutMs(timeoutMs).connectionTimeoutMs(timeoutMs)
                .retryPolicy(new RetryOneTime(100))
                .zookeeperFactory((servers, timeout, watcher, canBeReadOnly) -> new Told(name, servers, timeout, watcher, canBeReadOnly))
                .build();
        curator.start();
        curator.blockUntilConnected();
    }

    private static void say(String name, String words) {
        synchronized (CLIENTS) {
            System.out.println(name + " " + words);
        }
    }

    private static String last(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] words = line.split(" ");
            int timeoutMs = Integer.parseInt(arguments[0]) * 1000;
            CuratorClient client = CLIENTS.computeIfAbsent(words[0], name -> new CuratorClient(name, timeoutMs));
            String[] rest = Arrays.copyOfRange(words, 2, words.length);
            // A client is closed even while its own thread is blocked.
            Runnable order = () -> client.obey(words[1], rest);
            if (words[1].equals("close")) {
                new Thread(order).start();
            } else {
                client.thread.execute(order);
            }
        }
        System.exit(0);
    }

    private void obey(String verb, String[] words) {
        try {
            if (verb.equals("open")) {
                open(words[0]);
                recipe(words[1], words[2], words.length > 3 ? Integer.parseInt(words[3]) : 0);
                say(name, "ready 0x" + Long.toHexString(zooKeeper().getSessionId()));
            } else if (verb.equals("close")) {
                curator.close();
                say(name, "closed");
            } else {
                String done = verbs.get(verb).run(words);
                if (done != null) {
                    say(name, done);
                }
            }
        } catch (Exception error) {
            say(name, "failed " + error);
        }
    }

    private ZooKeeper zooKeeper() throws Exception {
        return curator.getZookeeperClient().getZooKeeper();
    }

    private void recipe(String kind, String path, int count) throws Exception {
        switch (kind) {
            case "mutex" -> lock("", new InterProcessMutex(curator, path));
            case "revocable" -> {
                InterProcessMutex mutex = new InterProcessMutex(curator, path);
                mutex.makeRevocable(asked -> say(name, "asked"));
                lock("", mutex);
            }
            case "read-write" -> {
                InterProcessReadWriteLock lock = new InterProcessReadWriteLock(curator, path, name.getBytes());
                lock("-read", lock.readLock());
                lock("-write", lock.writeLock());
            }
            case "semaphore-mutex" -> lock("", new InterProcessSemaphoreMutex(curator, path));
            case "multi-lock" -> lock("", new InterProcessMultiLock(curator, List.of(path.split(","))));
            case "semaphore" -> semaphore(new InterProcessSemaphoreV2(curator, path, count));
            case "selector" -> selector(path);
            case "latch" -> latch(path);
            case "barrier" -> barrier(new DistributedBarrier(curator, path));
            case "double-barrier" -> doubleBarrier(new DistributedDoubleBarrier(curator, path, count));
            case "write-lock" -> writeLock(path);
            case "queue" -> queue(path);
            case "election-support" -> electionSupport(path);
            default -> throw new IllegalArgumentException("no recipe " + kind);
        }
    }

    private void lock(String suffix, InterProcessLock lock) {
        verbs.put("acquire" + suffix, words -> {
            if (words.length == 0) {
                lock.acquire();
                return "held";
            }
            return lock.acquire(Long.parseLong(words[0]), TimeUnit.MILLISECONDS) ? "held" : "gave-up";
        });
        verbs.put("release" + suffix, words -> {
            lock.release();
            return "released";
        });
    }

    private void semaphore(InterProcessSemaphoreV2 semaphore) {
        semaphore.setNodeData(name.getBytes());
        List<Lease> leases = new ArrayList<>();
        verbs.put("acquire", words -> {
            Lease lease = words.length == 0 ? semaphore.acquire() : semaphore.acquire(Long.parseLong(words[0]), TimeUnit.MILLISECONDS);
            if (lease == null) {
                return "gave-up";
            }
            leases.add(lease);
            return "held " + last(lease.getNodeName());
        });
        verbs.put("release", words -> {
            semaphore.returnLease(leases.remove(0));
            return "released";
        });
    }

    private void selector(String path) {
        CountDownLatch release = new CountDownLatch(1);
        LeaderSelector selector = new LeaderSelector(curator, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework client) throws Exception {
                say(name, "held");
                release.await();
            }
        });
        selector.setId(name);
        verbs.put("acquire", words -> {
            selector.start();
            return null;
        });
        verbs.put("release", words -> {
            release.countDown();
            return "released";
        });
    }

    private void latch(String path) {
        LeaderLatch latch = new LeaderLatch(curator, path, name);
        verbs.put("acquire", words -> {
            latch.start();
            latch.await();
            return "held " + last(latch.getOurPath());
        });
        verbs.put("release", words -> {
            latch.close();
            return "released";
        });
    }

    private void barrier(DistributedBarrier barrier) {
        verbs.put("create", words -> {
            barrier.setBarrier();
            return "created";
        });
        verbs.put("remove", words -> {
            barrier.removeBarrier();
            return "removed";
        });
        verbs.put("wait", words -> {
            barrier.waitOnBarrier();
            return "passed";
        });
    }

    private void doubleBarrier(DistributedDoubleBarrier barrier) {
        verbs.put("enter", words -> {
            barrier.enter();
            return "held";
        });
        verbs.put("leave", words -> {
            barrier.leave();
            return "released";
        });
    }

    private void writeLock(String path) throws Exception {
        WriteLock[] lock = new WriteLock[1];
        lock[0] = new WriteLock(zooKeeper(), path, ZooDefs.Ids.OPEN_ACL_UNSAFE, new LockListener() {
            @Override
            public void lockAcquired() {
                say(name, "held " + last(lock[0].getId()));
            }

            @Override
            public void lockReleased() {
                say(name, "released");
            }
        });
        verbs.put("acquire", words -> {
            lock[0].lock();
            return null;
        });
        verbs.put("release", words -> {
            lock[0].unlock();
            return null;
        });
    }

    private void queue(String path) throws Exception {
        DistributedQueue items = new DistributedQueue(zooKeeper(), path, ZooDefs.Ids.OPEN_ACL_UNSAFE);
        verbs.put("put", words -> {
            items.offer(words[0].getBytes());
            return "put";
        });
        verbs.put("get", words -> "got " + new String(items.take()));
    }

    private void electionSupport(String path) throws Exception {
        LeaderElectionSupport election = new LeaderElectionSupport();
        election.setZooKeeper(zooKeeper());
        election.setRootNodeName(path);
        election.setHostName(name);
        election.addListener(event -> {
            if (event == LeaderElectionSupport.EventType.ELECTED_COMPLETE) {
                say(name, "held");
            }
        });
        verbs.put("acquire", words -> {
            election.start();
            return null;
        });
        verbs.put("release", words -> {
            election.stop();
            return "released";
        });
    }
}
