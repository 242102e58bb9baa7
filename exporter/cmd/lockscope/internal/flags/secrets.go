package flags

// Variables without a flag: a command line is no place for secrets.
const (
	VarRedisPassword    = Prefix + "REDIS_PASSWORD"
	VarSentinelPassword = Prefix + "SENTINEL_PASSWORD"
	VarPostgresPassword = Prefix + "POSTGRES_PASSWORD"
	VarEtcdPassword     = Prefix + "ETCD_PASSWORD"
	VarZooKeeperAuth    = Prefix + "ZOOKEEPER_AUTH"
)

// Secrets are all of them.
func Secrets() []string {
	return []string{VarRedisPassword, VarSentinelPassword, VarPostgresPassword, VarEtcdPassword, VarZooKeeperAuth}
}
