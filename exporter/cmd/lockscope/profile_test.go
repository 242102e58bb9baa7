package main

import (
	"maps"
	"slices"
	"strings"
)

// profile makes a real redis-server answer as another product does. A proxy on the loopback interface changes what the
// product's documents say differs: the fields of INFO, and the commands that it refuses. All else is done by the
// redis-server. A test on a profile shows nothing about what the documents leave out: how the product executes scripts,
// expires keys or fails over. The zero value changes nothing.
type profile struct {
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

// products returns every profile, in the order of README's table.
func products() []profile {
	return []profile{
		valkey(), keyDB(), keyDBActiveReplica(), dragonfly(), dragonflyCache(), garnet(), garnetWithoutLua(),
		elastiCache(), elastiCacheCluster(), elastiCacheServerless(), memoryDB(),
		azureCache(), azureManagedRedis(), memorystore(),
	}
}

// without returns the profile of a server that also hides fields of INFO.
func (p profile) without(fields ...string) profile {
	p.hidden = append(p.hidden[:len(p.hidden):len(p.hidden)], fields...)
	return p
}

// withoutSections returns the profile of a server that also hides whole sections of INFO, such as "Memory".
func (p profile) withoutSections(names ...string) profile {
	p.sections = append(p.sections[:len(p.sections):len(p.sections)], names...)
	return p
}

// refusing returns the profile of a server that also refuses a command with this error, which begins with its code. The
// command is in lower case; "config|get" is one of its kinds.
func (p profile) refusing(command, text string) profile {
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

// firstSection begins the reply to INFO of every section.
const firstSection = "# Server"

// info is the reply to INFO as the product has it.
func (p profile) info(text string) string {
	var out strings.Builder
	section, reported := "", make(map[string]bool)
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
			section = name
		}
		field, _, isField := strings.Cut(line, ":")
		value, changed := p.set[field]
		switch {
		case slices.Contains(p.sections, section), isField && slices.Contains(p.hidden, field):
			continue
		case isField && changed:
			line, reported[field] = field+":"+value+"\r\n", true
		}
		out.WriteString(line)
	}
	return p.added(out.String(), reported)
}

// added puts the fields that Redis has not into the first section.
func (p profile) added(text string, reported map[string]bool) string {
	var fields []string
	for field, value := range p.set {
		if !reported[field] {
			fields = append(fields, field+":"+value+"\r\n")
		}
	}
	slices.Sort(fields)
	return strings.Replace(text, firstSection+"\r\n", firstSection+"\r\n"+strings.Join(fields, ""), 1)
}
