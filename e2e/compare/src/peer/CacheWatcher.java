import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.retry.RetryOneTime;

/** A CuratorCache over a tree: says `ready` when it has read it, and how many changes it saw when `ROOT/end` comes. */
public final class CacheWatcher {
    public static void main(String[] args) throws Exception {
        String connect = args[0];
        String root = args[1];
        CuratorFramework client = CuratorFrameworkFactory.newClient(connect, 20_000, 10_000, new RetryOneTime(100));
        client.start();
        AtomicLong seen = new AtomicLong();
        AtomicLong first = new AtomicLong(-1);
        CuratorCache cache = CuratorCache.build(client, root);
        CuratorCacheListener listener = CuratorCacheListener.builder()
                .forCreates(node -> {
                    long count = seen.incrementAndGet();
                    if (node.getPath().equals(root + "/end")) {
                        System.out.println(count - first.get());
                    }
                })
                .forDeletes(node -> seen.incrementAndGet())
                .forInitialized(() -> {
                    first.set(seen.get());
                    System.out.println("ready");
                })
                .build();
        cache.listenable().addListener(listener);
        cache.start();
        // Ends with its standard input.
        while (System.in.read() >= 0) {
            continue;
        }
        System.exit(0);
    }
}
