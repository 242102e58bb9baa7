package profiles

import "maps"

// Profile is what one product is known to answer. Its zero value changes nothing.
type Profile struct {
	// Name is that of the product, as README's table of compatibility has it.
	Name string
	// Masters is how many masters of a Redis Cluster are behind it; 0 for a single server.
	Masters int
	// Policy is the maxmemory-policy that the product has unless somebody changes it.
	Policy string

	set      map[string]string   // fields of INFO that have other values, or are additional ones of its first section
	hidden   []string            // fields that INFO has not
	sections []string            // sections that INFO has not
	refused  map[string]string   // error by command, in lower case: "config", or "client|setname" for one of its kinds
	instead  map[string][]string // commands that the redis-server gets instead
}

// All returns every profile, in the order of README's table.
func All() []Profile {
	return []Profile{
		Valkey(), KeyDB(), KeyDBActiveReplica(), Dragonfly(), DragonflyCache(), Garnet(), GarnetWithoutLua(),
		ElastiCache(), ElastiCacheCluster(), ElastiCacheServerless(), MemoryDB(),
		AzureCache(), AzureManagedRedis(), Memorystore(),
	}
}

// Without returns the profile of a server that also hides fields of INFO.
func (p Profile) Without(fields ...string) Profile {
	p.hidden = append(p.hidden[:len(p.hidden):len(p.hidden)], fields...)
	return p
}

// WithoutSections returns the profile of a server that also hides whole sections of INFO, such as "Memory".
func (p Profile) WithoutSections(names ...string) Profile {
	p.sections = append(p.sections[:len(p.sections):len(p.sections)], names...)
	return p
}

// Refusing returns the profile of a server that also refuses a command with this error, which begins with its code. The
// command is in lower case; "config|get" is one of its kinds.
func (p Profile) Refusing(command, text string) Profile {
	refused := map[string]string{command: text}
	maps.Copy(refused, p.refused)
	refused[command] = text
	p.refused = refused
	return p
}

// unknown are commands that the server refuses as if they did not exist.
func unknown(commands ...string) map[string]string {
	refused := make(map[string]string)
	for _, command := range commands {
		refused[command] = "ERR unknown command '" + command + "'"
	}
	return refused
}

// noParameters makes CONFIG GET find nothing.
var noParameters = map[string][]string{"config|get": {"config", "get", "no-such-parameter"}}
