package profiles

// Valkey is Valkey 8.
//
// INFO has run_id, role (master or slave) and maxmemory_policy as Redis has. redis_version stays at 7.2.4;
// server_name and valkey_version are new: github.com/valkey-io/valkey at 55bbbe09, src/server.c (genValkeyInfoString),
// src/version.h.
func Valkey() Profile {
	return Profile{Name: "Valkey 8", Policy: "noeviction",
		set: map[string]string{"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "8.0.1"}}
}

// KeyDB is KeyDB 6.3.
//
// INFO has run_id and maxmemory_policy; redis_version is that of KeyDB: github.com/Snapchat/KeyDB at 603ebb27,
// src/server.cpp (genRedisInfoString).
func KeyDB() Profile {
	return Profile{Name: "KeyDB 6.3", Policy: "noeviction", set: map[string]string{"redis_version": "6.3.4"}}
}

// KeyDBActiveReplica is a KeyDB server with active-replica yes, which accepts writes and follows a master.
//
// Its role is active-replica as soon as it has a master: github.com/Snapchat/KeyDB at 603ebb27, src/server.cpp
// (genRedisInfoString, "role:").
func KeyDBActiveReplica() Profile {
	p := KeyDB()
	p.Name = "KeyDB, active replica"
	p.set = map[string]string{"redis_version": "6.3.4", "role": "active-replica"}
	return p
}

// Dragonfly is Dragonfly in its default mode. All facts are from github.com/dragonflydb/dragonfly at f8eca6d0,
// src/server/server_family.cc:
//   - INFO has no run_id (add_server_info); redis_version is 7.4.0 (kRedisVersion), dragonfly_version is new;
//   - maxmemory is never 0, and maxmemory_policy is noeviction or, in cache mode, eviction (add_mem_info);
//   - INFO without a section leaves out Persistence (section_enabled("PERSISTENCE", true));
//   - CONFIG GET of a parameter that it does not know finds nothing (ServerFamily::Config). It has no appendfsync.
func Dragonfly() Profile {
	return Profile{Name: "Dragonfly", Policy: "noeviction",
		set:      map[string]string{"redis_version": "7.4.0", "dragonfly_version": "df-v1.0.0", "cache_mode": "store"},
		hidden:   []string{"run_id"},
		sections: []string{"Persistence"},
		instead:  noParameters,
	}
}

// DragonflyCache is Dragonfly with --cache_mode, which evicts keys.
func DragonflyCache() Profile {
	p := Dragonfly()
	p.Name, p.Policy = "Dragonfly, cache mode", "volatile-lru"
	p.set = map[string]string{"redis_version": "7.4.0", "dragonfly_version": "df-v1.0.0", "cache_mode": "cache",
		"maxmemory": "1073741824", "maxmemory_policy": "eviction"}
	return p
}

// Garnet is Garnet with --lua. All facts are from github.com/microsoft/garnet at e508a416:
//   - INFO has run_id, redis_version and garnet_version, and role, but no maxmemory, maxmemory_policy or evicted_keys:
//     libs/server/Metrics/Info/GarnetInfoMetrics.cs, libs/cluster/Server/ClusterProvider.cs;
//   - INFO has a section Persistence with the append-only file only, and no aof_enabled: the same file;
//   - CONFIG GET of a parameter that it does not know finds nothing: libs/server/ServerConfig.cs (NetworkCONFIG_GET).
func Garnet() Profile {
	return Profile{Name: "Garnet with --lua", Policy: "noeviction",
		set:      map[string]string{"redis_version": "7.4.3", "garnet_version": "2.1.4", "server_name": "garnet"},
		hidden:   []string{"maxmemory", "maxmemory_human", "maxmemory_policy", "evicted_keys"},
		sections: []string{"Persistence"},
		instead:  noParameters,
	}
}

// GarnetWithoutLua is Garnet as it is installed: scripts are off. github.com/microsoft/garnet at e508a416,
// libs/host/defaults.conf (EnableLua) and libs/server/Resp/CmdStrings.cs (RESP_ERR_LUA_DISABLED).
func GarnetWithoutLua() Profile {
	p := Garnet()
	p.Name = "Garnet"
	const disabled = "ERR This instance has Lua scripting support disabled"
	p.refused = map[string]string{"eval": disabled, "evalsha": disabled, "script": disabled}
	return p
}
