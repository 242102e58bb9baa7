package profiles

// awsRefused are what ElastiCache and MemoryDB both refuse:
// docs.aws.amazon.com/AmazonElastiCache/latest/dg/ClientConfig.RestrictedCommands.html and
// docs.aws.amazon.com/memorydb/latest/devguide/restrictedcommands.html.
func awsRefused() map[string]string {
	return unknown("acl|setuser", "acl|load", "acl|save", "acl|deluser", "bgrewriteaof", "bgsave", "config", "debug",
		"migrate", "psync", "replicaof", "save", "slaveof", "shutdown", "sync")
}

// ElastiCache is a node-based cluster with cluster mode disabled.
//
// Its default maxmemory-policy is volatile-lru, and a parameter group changes it:
// aws.amazon.com/premiumsupport/knowledge-center/oom-command-not-allowed-redis. The documents name no field that INFO
// lacks.
func ElastiCache() Profile {
	return Profile{Name: "ElastiCache, node based", Policy: "volatile-lru", refused: awsRefused()}
}

// ElastiCacheCluster is a node-based cluster with cluster mode enabled.
func ElastiCacheCluster() Profile {
	p := ElastiCache()
	p.Name, p.Masters = "ElastiCache, cluster mode", 3
	return p
}

// ElastiCacheServerless is a serverless cache.
//
// It is a Redis Cluster of one virtual node in front of several servers. Its maxmemory-policy is volatile-lru, and
// nobody can change that: docs.aws.amazon.com/AmazonElastiCache/latest/dg/RedisConfiguration.html. No document says
// which fields INFO has. The profile has no run_id: it could only be that of one of the servers.
func ElastiCacheServerless() Profile {
	p := ElastiCache()
	p.Name, p.Masters = "ElastiCache Serverless", 1
	return p.Without("run_id")
}

// MemoryDB is a MemoryDB cluster, always a Redis Cluster. What it refuses: see awsRefused; modules besides. The
// documents name no field that INFO lacks. The policy is a parameter of the cluster
// (docs.aws.amazon.com/memorydb/latest/devguide/parametergroups.redis.html); the profile has noeviction.
func MemoryDB() Profile {
	p := Profile{Name: "MemoryDB", Policy: "noeviction", Masters: 1, refused: awsRefused()}
	return p.Refusing("module", "ERR unknown command 'module'")
}

// AzureCache is Azure Cache for Redis: Basic, Standard and Premium.
//
// The default policy is volatile-lru, and the portal changes it. It refuses these commands with "ERR unknown command":
// github.com/MicrosoftDocs/azure-docs, articles/azure-cache-for-redis/cache-configure.md.
func AzureCache() Profile {
	return Profile{Name: "Azure Cache for Redis", Policy: "volatile-lru",
		refused: unknown("bgrewriteaof", "bgsave", "config", "debug", "migrate", "save", "shutdown", "slaveof")}
}

// AzureManagedRedis is Azure Managed Redis with the Enterprise clustering policy: Redis Software behind its proxy.
//   - INFO has run_id, but no maxmemory_policy: github.com/sidekiq/sidekiq/issues/5086 has such a reply.
//   - CONFIG GET of most settings is an error:
//     redis.io/docs/latest/operate/rs/references/compatibility/config-settings.
//   - ACL SETUSER and most CLUSTER commands are refused:
//     redis.io/docs/latest/operate/rs/references/compatibility/commands/server and .../cluster.
//   - The default policy is volatile-lru: learn.microsoft.com/azure/redis/best-practices-memory-management.
func AzureManagedRedis() Profile {
	refused := unknown("bgrewriteaof", "bgsave", "cluster", "debug", "migrate", "replicaof", "save", "shutdown",
		"slaveof", "acl|setuser", "acl|load", "acl|save", "acl|log")
	refused["config|get"] = "ERR Unsupported CONFIG parameter: appendfsync"
	return Profile{Name: "Azure Managed Redis", Policy: "volatile-lru", refused: refused,
		hidden: []string{"maxmemory", "maxmemory_human", "maxmemory_policy"}}
}

// Memorystore is Memorystore for Redis before version 6 of Redis.
//   - It refuses these commands: cloud.google.com/memorystore/docs/redis/product-constraints. From version 6 on it
//     permits some of CLIENT: docs.cloud.google.com/memorystore/docs/redis/supported-commands.
//   - HELLO is new in Redis 6: redis.io/commands/hello.
//   - The default policy is volatile-lru: docs.cloud.google.com/memorystore/docs/redis/supported-redis-configurations.
func Memorystore() Profile {
	return Profile{Name: "Memorystore for Redis", Policy: "volatile-lru",
		set: map[string]string{"redis_version": "5.0.14"},
		refused: unknown("acl", "bgrewriteaof", "bgsave", "client", "cluster", "command", "config", "debug", "hello",
			"lastsave", "migrate", "monitor", "object", "shutdown", "replicaof", "save")}
}
