package ui

// Variables without a flag: a command line is no place for secrets.
const (
	VarRedisPassword    = VarPrefix + "REDIS_PASSWORD"
	VarSentinelPassword = VarPrefix + "SENTINEL_PASSWORD"
	VarPostgresPassword = VarPrefix + "POSTGRES_PASSWORD"
	VarEtcdPassword     = VarPrefix + "ETCD_PASSWORD"
	VarZooKeeperAuth    = VarPrefix + "ZOOKEEPER_AUTH"
)

// SecretVars are all of them.
func SecretVars() []string {
	return []string{VarRedisPassword, VarSentinelPassword, VarPostgresPassword, VarEtcdPassword, VarZooKeeperAuth}
}

// Variables that run and elect set for their commands.
const (
	VarResource = VarPrefix + "RESOURCE"
	VarFence    = VarPrefix + "FENCE"
	VarTerm     = VarPrefix + "TERM"
	VarSlot     = VarPrefix + "SLOT"
)

// GrantVars are all of them. lockscope does not read them.
func GrantVars() []string { return []string{VarResource, VarFence, VarTerm, VarSlot} }
