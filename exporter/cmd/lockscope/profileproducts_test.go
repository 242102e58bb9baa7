package main

// valkey is Valkey 8.
//
// INFO has run_id, role (master or slave) and maxmemory_policy as Redis has. redis_version stays at 7.2.4;
// server_name and valkey_version are new: github.com/valkey-io/valkey at 55bbbe09, src/server.c (genValkeyInfoString),
// src/version.h.
func valkey() profile {
	return profile{Name: "Valkey 8", Policy: "noeviction",
		set: map[string]string{"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "8.0.1"}}
}

// keyDB is KeyDB 6.3.
//
// INFO has run_id and maxmemory_policy; redis_version is that of KeyDB: github.com/Snapchat/KeyDB at 603ebb27,
// src/server.cpp (genRedisInfoString).
func keyDB() profile {
	return profile{Name: "KeyDB 6.3", Policy: "noeviction", set: map[string]string{"redis_version": "6.3.4"}}
}

// keyDBActiveReplica is a KeyDB server with active-replica yes, which accepts writes and follows a master.
//
// Its role is active-replica as soon as it has a master: github.com/Snapchat/KeyDB at 603ebb27, src/server.cpp
// (genRedisInfoString, "role:").
func keyDBActiveReplica() profile {
	p := keyDB()
	p.Name = "KeyDB, active replica"
	p.set = map[string]string{"redis_version": "6.3.4", "role": "active-replica"}
	return p
}

// dragonfly is Dragonfly in its default mode. All facts are from github.com/dragonflydb/dragonfly at f8eca6d0,
// src/server/server_family.cc:
//   - INFO has no run_id (add_server_info); redis_version is 7.4.0 (kRedisVersion), dragonfly_version is new;
//   - maxmemory is never 0, and maxmemory_policy is noeviction or, in cache mode, eviction (add_mem_info);
//   - INFO without a section leaves out Persistence (section_enabled("PERSISTENCE", true));
//   - CONFIG GET of a parameter that it does not know finds nothing (ServerFamily::Config). It has no appendfsync.
func dragonfly() profile {
	return profile{Name: "Dragonfly", Policy: "noeviction",
		set:      map[string]string{"redis_version": "7.4.0", "dragonfly_version": "df-v1.0.0", "cache_mode": "store"},
		hidden:   []string{"run_id"},
		sections: []string{"Persistence"},
		instead:  noParameters,
	}
}

// dragonflyCache is Dragonfly with --cache_mode, which evicts keys.
func dragonflyCache() profile {
	p := dragonfly()
	p.Name, p.Policy = "Dragonfly, cache mode", "volatile-lru"
	p.set = map[string]string{"redis_version": "7.4.0", "dragonfly_version": "df-v1.0.0", "cache_mode": "cache",
		"maxmemory": "1073741824", "maxmemory_policy": "eviction"}
	return p
}

// garnet is Garnet with --lua. All facts are from github.com/microsoft/garnet at e508a416:
//   - INFO has run_id, redis_version and garnet_version, and role, but no maxmemory, maxmemory_policy or evicted_keys:
//     libs/server/Metrics/Info/GarnetInfoMetrics.cs, libs/cluster/Server/ClusterProvider.cs;
//   - INFO has a section Persistence with the append-only file only, and no aof_enabled: the same file;
//   - CONFIG GET of a parameter that it does not know finds nothing: libs/server/ServerConfig.cs (NetworkCONFIG_GET).
func garnet() profile {
	return profile{Name: "Garnet with --lua", Policy: "noeviction",
		set:      map[string]string{"redis_version": "7.4.3", "garnet_version": "2.1.4", "server_name": "garnet"},
		hidden:   []string{"maxmemory", "maxmemory_human", "maxmemory_policy", "evicted_keys"},
		sections: []string{"Persistence"},
		instead:  noParameters,
	}
}

// garnetWithoutLua is Garnet as it is installed: scripts are off. github.com/microsoft/garnet at e508a416,
// libs/host/defaults.conf (EnableLua) and libs/server/Resp/CmdStrings.cs (RESP_ERR_LUA_DISABLED).
func garnetWithoutLua() profile {
	p := garnet()
	p.Name = "Garnet"
	const disabled = "ERR This instance has Lua scripting support disabled"
	p.refused = map[string]string{"eval": disabled, "evalsha": disabled, "script": disabled}
	return p
}

// awsRefused are what ElastiCache and MemoryDB both refuse:
// docs.aws.amazon.com/AmazonElastiCache/latest/dg/ClientConfig.RestrictedCommands.html and
// docs.aws.amazon.com/memorydb/latest/devguide/restrictedcommands.html.
func awsRefused() map[string]string {
	return unknown("acl|setuser", "acl|load", "acl|save", "acl|deluser", "bgrewriteaof", "bgsave", "config", "debug",
		"migrate", "psync", "replicaof", "save", "slaveof", "shutdown", "sync")
}

// elastiCache is a node-based cluster with cluster mode disabled.
//
// Its default maxmemory-policy is volatile-lru, and a parameter group changes it:
// aws.amazon.com/premiumsupport/knowledge-center/oom-command-not-allowed-redis. The documents name no field that INFO
// lacks.
func elastiCache() profile {
	return profile{Name: "ElastiCache, node based", Policy: "volatile-lru", refused: awsRefused()}
}

// elastiCacheCluster is a node-based cluster with cluster mode enabled.
func elastiCacheCluster() profile {
	p := elastiCache()
	p.Name, p.Masters = "ElastiCache, cluster mode", 3
	return p
}

// elastiCacheServerless is a serverless cache.
//
// It is a Redis Cluster of one virtual node in front of several servers. Its maxmemory-policy is volatile-lru, and
// nobody can change that: docs.aws.amazon.com/AmazonElastiCache/latest/dg/RedisConfiguration.html. No document says
// which fields INFO has. The profile has no run_id: it could only be that of one of the servers.
func elastiCacheServerless() profile {
	p := elastiCache()
	p.Name, p.Masters = "ElastiCache Serverless", 1
	return p.without("run_id")
}

// memoryDB is a MemoryDB cluster, always a Redis Cluster. What it refuses: see awsRefused; modules besides. The
// documents name no field that INFO lacks. The policy is a parameter of the cluster
// (docs.aws.amazon.com/memorydb/latest/devguide/parametergroups.redis.html); the profile has noeviction.
func memoryDB() profile {
	p := profile{Name: "MemoryDB", Policy: "noeviction", Masters: 1, refused: awsRefused()}
	return p.refusing("module", "ERR unknown command 'module'")
}

// azureCache is Azure Cache for Redis: Basic, Standard and Premium.
//
// The default policy is volatile-lru, and the portal changes it. It refuses these commands with "ERR unknown command":
// github.com/MicrosoftDocs/azure-docs, articles/azure-cache-for-redis/cache-configure.md.
func azureCache() profile {
	return profile{Name: "Azure Cache for Redis", Policy: "volatile-lru",
		refused: unknown("bgrewriteaof", "bgsave", "config", "debug", "migrate", "save", "shutdown", "slaveof")}
}

// azureManagedRedis is Azure Managed Redis with the Enterprise clustering policy: Redis Software behind its proxy.
//   - INFO has run_id, but no maxmemory_policy: github.com/sidekiq/sidekiq/issues/5086 has such a reply.
//   - CONFIG GET of most settings is an error:
//     redis.io/docs/latest/operate/rs/references/compatibility/config-settings.
//   - ACL SETUSER and most CLUSTER commands are refused:
//     redis.io/docs/latest/operate/rs/references/compatibility/commands/server and .../cluster.
//   - The default policy is volatile-lru: learn.microsoft.com/azure/redis/best-practices-memory-management.
func azureManagedRedis() profile {
	refused := unknown("bgrewriteaof", "bgsave", "cluster", "debug", "migrate", "replicaof", "save", "shutdown",
		"slaveof", "acl|setuser", "acl|load", "acl|save", "acl|log")
	refused["config|get"] = "ERR Unsupported CONFIG parameter: appendfsync"
	return profile{Name: "Azure Managed Redis", Policy: "volatile-lru", refused: refused,
		hidden: []string{"maxmemory", "maxmemory_human", "maxmemory_policy"}}
}

// memorystore is Memorystore for Redis before version 6 of Redis.
//   - It refuses these commands: cloud.google.com/memorystore/docs/redis/product-constraints. From version 6 on it
//     permits some of CLIENT: docs.cloud.google.com/memorystore/docs/redis/supported-commands.
//   - HELLO is new in Redis 6: redis.io/commands/hello.
//   - The default policy is volatile-lru: docs.cloud.google.com/memorystore/docs/redis/supported-redis-configurations.
func memorystore() profile {
	return profile{Name: "Memorystore for Redis", Policy: "volatile-lru",
		set: map[string]string{"redis_version": "5.0.14"},
		refused: unknown("acl", "bgrewriteaof", "bgsave", "client", "cluster", "command", "config", "debug", "hello",
			"lastsave", "migrate", "monitor", "object", "shutdown", "replicaof", "save")}
}
