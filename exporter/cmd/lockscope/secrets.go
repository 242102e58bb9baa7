package main

import "github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"

// Variables without a flag: a command line is no place for secrets.
const (
	varRedisPassword    = flags.Prefix + "REDIS_PASSWORD"
	varSentinelPassword = flags.Prefix + "SENTINEL_PASSWORD"
	varPostgresPassword = flags.Prefix + "POSTGRES_PASSWORD"
	varEtcdPassword     = flags.Prefix + "ETCD_PASSWORD"
	varZooKeeperAuth    = flags.Prefix + "ZOOKEEPER_AUTH"
)

// secretVars are all of them.
func secretVars() []string {
	return []string{varRedisPassword, varSentinelPassword, varPostgresPassword, varEtcdPassword, varZooKeeperAuth}
}
