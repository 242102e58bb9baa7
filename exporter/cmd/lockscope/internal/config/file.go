package config

import (
	"encoding/json"
	"path/filepath"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// File is a configuration file. Field names are those of the json tags; the schema for
// editors is made of these types.
type File struct {
	Groups     []FileGroup `json:"groups,omitempty" jsonschema:"independent groups of servers; without any, flags name the servers"`
	Patterns   []Pattern   `json:"patterns,omitempty" jsonschema:"where locks are in Redis, with limits of their own: the first that matches decides; each one costs a pass through all keys"`
	Exclusions []Exclusion `json:"exclusions,omitempty" jsonschema:"known findings to leave out of reports until a date"`

	MaxTTL     Duration `json:"max_ttl,omitempty" jsonschema:"report longer TTLs (long_ttl) where no pattern has a limit; 1h if left out"`
	MaxHold    Duration `json:"max_hold,omitempty" jsonschema:"report longer holds (held_too_long) where no pattern has a limit; 1h if left out"`
	MaxTerm    Duration `json:"max_term,omitempty" jsonschema:"report leaders of elections that have led for longer (held_too_long), where no pattern has a limit; without it they have no limit"`
	Checks     []string `json:"checks,omitempty" jsonschema:"classes of findings to look for; all if left out"`
	AllowEmpty bool     `json:"allow_empty,omitempty" jsonschema:"a sweep that matches no key is complete"`
	Interval   Duration `json:"interval,omitempty" jsonschema:"time between two sweeps of serve; 1m if left out"`
	Throttle   Throttle `json:"throttle,omitzero" jsonschema:"limits for the load on servers"`
	Notify     Notify   `json:"notify,omitzero" jsonschema:"where to send findings"`

	path  string
	lines map[string]int
}

// FileGroup is servers with one quorum, or one server, and a scanner of its own.
type FileGroup struct {
	Name     string   `json:"name" jsonschema:"name of the group in reports"`
	Redis    []string `json:"redis,omitempty" jsonschema:"this, postgres, etcd or zookeeper. Servers: redis://host:port/db, rediss:// for TLS, unix:///path, host:port; seeds of a cluster; Sentinels. Passwords belong in password_file"`
	Replicas []string `json:"replicas,omitempty" jsonschema:"replicas to read pages from, one for each server in its order"`

	Cluster              bool   `json:"cluster,omitempty" jsonschema:"the servers are seeds of one Redis Cluster"`
	SentinelMaster       string `json:"sentinel_master,omitempty" jsonschema:"the servers are Sentinels that watch the master of this name"`
	SentinelPasswordFile string `json:"sentinel_password_file,omitempty" jsonschema:"file with the Sentinels' own password"`
	Redlock              *bool  `json:"redlock,omitempty" jsonschema:"true: the servers are nodes of one Redlock, and a token on a minority is an orphan; false: they are independent. Required for several servers"`

	Other

	Username     string `json:"username,omitempty" jsonschema:"ACL user for URLs that name none; user of etcd"`
	PasswordFile string `json:"password_file,omitempty" jsonschema:"file with the password; relative to this file; read again when it changes"`
	TLS          TLS    `json:"tls,omitzero" jsonschema:"for rediss:// URLs, https:// endpoints of etcd, and PostgreSQL"`

	Patterns   []Pattern   `json:"patterns,omitempty" jsonschema:"instead of those of the file; only for redis"`
	Exclusions []Exclusion `json:"exclusions,omitempty" jsonschema:"in addition to those of the file"`
}

// TLS is paths of PEM files, relative to the configuration file.
type TLS struct {
	CA                 string `json:"ca,omitempty" jsonschema:"authorities that sign the servers' certificates, instead of the system's"`
	Cert               string `json:"cert,omitempty" jsonschema:"this client's certificate"`
	Key                string `json:"key,omitempty" jsonschema:"this client's key"`
	InsecureSkipVerify bool   `json:"insecure_skip_verify,omitempty" jsonschema:"accept any server certificate: for tests only"`
}

// Pattern is where locks are, and their limits.
type Pattern struct {
	Pattern      string   `json:"pattern,omitempty" jsonschema:"glob pattern of Redis, such as lock:*; this or prefix"`
	Prefix       string   `json:"prefix,omitempty" jsonschema:"text that the keys begin with; this or pattern"`
	Name         string   `json:"name,omitempty" jsonschema:"name of the policy in findings; the pattern if left out"`
	Team         string   `json:"team,omitempty" jsonschema:"label team of its alerts, instead of that in notify"`
	MaxTTL       Duration `json:"max_ttl,omitempty" jsonschema:"report longer TTLs"`
	MaxHold      Duration `json:"max_hold,omitempty" jsonschema:"report longer holds"`
	MaxTerm      Duration `json:"max_term,omitempty" jsonschema:"report leaders of elections that have led for longer"`
	NoTTLAllowed bool     `json:"no_ttl_allowed,omitempty" jsonschema:"a lock without a TTL is fine"`
}

// Exclusion keeps findings out of reports for a while.
type Exclusion struct {
	Pattern string `json:"pattern" jsonschema:"glob pattern of Redis"`
	Until   Date   `json:"until" jsonschema:"last day, in UTC, or a time; reports name an expired exclusion"`
	Reason  string `json:"reason" jsonschema:"why, for the readers of reports"`
}

// Throttle limits the load on servers.
type Throttle struct {
	PageSize     int       `json:"page_size,omitempty" jsonschema:"keys per SCAN call (COUNT) at most, during which the server answers nobody else; 500 if left out"`
	Pause        *Duration `json:"pause,omitempty" jsonschema:"pause after each page of a server; adapts to the latency of the server if left out"`
	Deadline     Duration  `json:"deadline,omitempty" jsonschema:"longest time for a sweep; 5m if left out"`
	ConfirmAfter *Duration `json:"confirm_after,omitempty" jsonschema:"time until the second look that confirms a finding; 5s if left out"`
	MaxFindings  int       `json:"max_findings,omitempty" jsonschema:"number of findings to keep; the others are only counted"`
	MaxValues    *int      `json:"max_values,omitempty" jsonschema:"values to read per server and sweep, in turns; 0 reads all"`
}

// Notify is where findings are sent.
type Notify struct {
	Alertmanagers []Alertmanager `json:"alertmanagers,omitempty"`
	Webhooks      []Webhook      `json:"webhooks,omitempty"`
}

// Alertmanager is the members of one Alertmanager cluster.
type Alertmanager struct {
	URLs     []string          `json:"urls" jsonschema:"each member of the cluster: http://host:9093"`
	Labels   map[string]string `json:"labels,omitempty" jsonschema:"labels of every alert, to route it by"`
	Severity map[string]string `json:"severity,omitempty" jsonschema:"label severity by class of finding; warning if left out"`
	Groups   []string          `json:"groups,omitempty" jsonschema:"only of these groups"`
	Credentials
}

// Webhook is a URL that takes findings when they change.
type Webhook struct {
	URL          string   `json:"url,omitempty" jsonschema:"where findings are posted; this or url_file"`
	URLFile      string   `json:"url_file,omitempty" jsonschema:"file with a URL that is a secret"`
	TemplateFile string   `json:"template_file,omitempty" jsonschema:"file with a text/template that writes the JSON of the body; a report as of scan -o json if left out"`
	SecretFile   string   `json:"secret_file,omitempty" jsonschema:"file with a key that the template writes into the body as .Secret"`
	Groups       []string `json:"groups,omitempty" jsonschema:"only of these groups"`
	Credentials
}

// Credentials are sent with each notification.
type Credentials struct {
	Username        string `json:"username,omitempty" jsonschema:"for basic authentication"`
	PasswordFile    string `json:"password_file,omitempty" jsonschema:"file with its password"`
	BearerTokenFile string `json:"bearer_token_file,omitempty" jsonschema:"file with a token"`
}

// Problem makes an error of what is wrong with a part of the file, such as a group.
func (f *File) Problem(path string, err error) error {
	p := &problems{file: f.path, lines: f.lines}
	p.add(path, "%v", err)
	return p.err()
}

// file resolves a path of the configuration, which is relative to the configuration file.
func (f *File) file(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}

// SchemaID is what the schema is called.
const SchemaID = "https://github.com/lockscope/lockscope/blob/main/exporter/cmd/lockscope/internal/config/schema.json"

// Schema is the JSON schema of a [File], for editors. It is made of the types, so that no
// field is missing.
func Schema() ([]byte, error) {
	duration := &jsonschema.Schema{
		Types:       []string{"string", "integer"},
		Pattern:     `^(0|([0-9]+w)?([0-9]+d)?(([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+)?)$`,
		Description: "1d12h, 90m, 10s, 250ms",
	}
	date := &jsonschema.Schema{Type: "string", Pattern: `^\d{4}-\d{2}-\d{2}(T.*)?$`,
		Description: "2026-12-31, or a time"}
	s, err := jsonschema.For[File](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Duration](): duration, reflect.TypeFor[Date](): date,
	}})
	if err != nil {
		return nil, err
	}
	s.Schema, s.ID, s.Title = "https://json-schema.org/draft/2020-12/schema", SchemaID, "Configuration of lockscope"
	return json.MarshalIndent(s, "", "  ")
}

// Other is a system beside Redis, in place of redis.
type Other struct {
	Postgres string `json:"postgres,omitempty" jsonschema:"PostgreSQL: postgres://user@host:port/database. The password belongs in password_file"`
	Schema   string `json:"schema,omitempty" jsonschema:"of the locks of pglock: WithSchema of the services; lockscope if left out"`

	Etcd         []string `json:"etcd,omitempty" jsonschema:"members of one etcd cluster: host:port, or https://host:port for TLS"`
	EtcdPrefix   string   `json:"etcd_prefix,omitempty" jsonschema:"of the lock keys of etcdlock: WithPrefix of the services; lock: if left out"`
	EtcdFenceKey string   `json:"etcd_fence_key,omitempty" jsonschema:"key that counts fencing tokens: WithFenceKey of the services"`

	ZooKeeper         []string `json:"zookeeper,omitempty" jsonschema:"servers of one ZooKeeper ensemble: host:port"`
	ZooKeeperRoot     string   `json:"zookeeper_root,omitempty" jsonschema:"parent node of the locks of zklock: WithRoot of the services; /locks if left out"`
	ZooKeeperAuthFile string   `json:"zookeeper_auth_file,omitempty" jsonschema:"file with user:password of a user that may read the znodes"`

	Prefixes []string `json:"prefixes,omitempty" jsonschema:"further prefixes of locks in postgres, etcd or zookeeper; in Redis, patterns have them"`
	MaxTTL   Duration `json:"max_ttl,omitempty" jsonschema:"instead of that of the file; in Redis, patterns have it"`
	MaxHold  Duration `json:"max_hold,omitempty" jsonschema:"instead of that of the file; in Redis, patterns have it"`
	MaxTerm  Duration `json:"max_term,omitempty" jsonschema:"instead of that of the file; in Redis, patterns have it"`
}
