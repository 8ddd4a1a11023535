import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** One Curator InterProcessMutex contender: see recipes.rs for what it says and hears. */
public final class CuratorMutex {
    private static final class Mutex extends InterProcessMutex {
        Mutex(CuratorFramework client, String path) {
            super(client, path);
        }

        String node() {
            String path = getLockPath();
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], 8000, 8000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        Mutex mutex = new Mutex(client, arguments[1]);
        System.out.println("ready " + client.getZookeeperClient().getZooKeeper().getSessionId());
        mutex.acquire();
        System.out.println("held " + mutex.node());
        System.in.read();
        mutex.release();
        System.out.println("released");
        client.close();
    }
}
