package config

import "path/filepath"

// File is a configuration file. Field names are those of the json tags; the schema for
// editors is made of these types.
type File struct {
	Groups     []Group     `json:"groups,omitempty" jsonschema:"servers, in groups that have nothing to do with each other; without any, flags name the servers"`
	Patterns   []Pattern   `json:"patterns,omitempty" jsonschema:"where locks are and what is right for them: the first that matches decides; each costs a pass through all keys"`
	Exclusions []Exclusion `json:"exclusions,omitempty" jsonschema:"findings that are known, and kept out of reports until a date"`

	MaxTTL     Duration `json:"max_ttl,omitempty" jsonschema:"a longer TTL is a finding (long_ttl), where no pattern says otherwise; 1h if left out"`
	MaxHold    Duration `json:"max_hold,omitempty" jsonschema:"one holder for longer is a finding (held_too_long), where no pattern says otherwise; 1h if left out"`
	Checks     []string `json:"checks,omitempty" jsonschema:"classes of findings to look for; all if left out"`
	AllowEmpty bool     `json:"allow_empty,omitempty" jsonschema:"it is no gap that no key matches"`
	Interval   Duration `json:"interval,omitempty" jsonschema:"time between two sweeps of serve; 1m if left out"`
	Throttle   Throttle `json:"throttle,omitzero" jsonschema:"how gently servers are read"`
	Notify     Notify   `json:"notify,omitzero" jsonschema:"who is told of findings"`

	path  string
	lines map[string]int
}

// Group is servers with one quorum, or one server, and a scanner of its own.
type Group struct {
	Name     string   `json:"name" jsonschema:"as reports call it"`
	Redis    []string `json:"redis" jsonschema:"servers: redis://host:port/db, rediss:// for TLS, unix:///path, host:port; seeds of a cluster; Sentinels. Passwords belong in password_file"`
	Replicas []string `json:"replicas,omitempty" jsonschema:"replicas to read pages from, one for each server in its order"`

	Cluster              bool   `json:"cluster,omitempty" jsonschema:"the servers are seeds of one Redis Cluster"`
	SentinelMaster       string `json:"sentinel_master,omitempty" jsonschema:"the servers are Sentinels, and this is the master they watch"`
	SentinelPasswordFile string `json:"sentinel_password_file,omitempty" jsonschema:"file with the Sentinels' own password"`
	Redlock              *bool  `json:"redlock,omitempty" jsonschema:"true: the servers are nodes of one Redlock, and a token on a minority is an orphan; false: they have nothing to do with each other. Needed for several servers"`

	Username     string `json:"username,omitempty" jsonschema:"ACL user for URLs that name none"`
	PasswordFile string `json:"password_file,omitempty" jsonschema:"file with the password; relative to this file; read again when it changes"`
	TLS          TLS    `json:"tls,omitzero" jsonschema:"for rediss:// URLs"`

	Patterns   []Pattern   `json:"patterns,omitempty" jsonschema:"instead of those of the file"`
	Exclusions []Exclusion `json:"exclusions,omitempty" jsonschema:"besides those of the file"`
}

// TLS is paths of PEM files, relative to the configuration file.
type TLS struct {
	CA                 string `json:"ca,omitempty" jsonschema:"authorities that sign the servers' certificates, instead of the system's"`
	Cert               string `json:"cert,omitempty" jsonschema:"this client's certificate"`
	Key                string `json:"key,omitempty" jsonschema:"this client's key"`
	InsecureSkipVerify bool   `json:"insecure_skip_verify,omitempty" jsonschema:"believe any server: for tests only"`
}

// Pattern is where locks are and what is right for them.
type Pattern struct {
	Pattern      string   `json:"pattern,omitempty" jsonschema:"glob pattern of Redis, such as lock:*; this or prefix"`
	Prefix       string   `json:"prefix,omitempty" jsonschema:"what keys begin with; this or pattern"`
	Name         string   `json:"name,omitempty" jsonschema:"as findings call the policy; the pattern if left out"`
	MaxTTL       Duration `json:"max_ttl,omitempty" jsonschema:"a longer TTL is a finding"`
	MaxHold      Duration `json:"max_hold,omitempty" jsonschema:"one holder for longer is a finding"`
	NoTTLAllowed bool     `json:"no_ttl_allowed,omitempty" jsonschema:"a lock without a TTL is fine"`
}

// Exclusion keeps findings out of reports for a while.
type Exclusion struct {
	Pattern string `json:"pattern" jsonschema:"glob pattern of Redis"`
	Until   Date   `json:"until" jsonschema:"last day, in UTC, or a time; after it nothing is excluded and reports say so"`
	Reason  string `json:"reason" jsonschema:"for whoever reads a report"`
}

// Throttle is how gently servers are read.
type Throttle struct {
	PageSize     int       `json:"page_size,omitempty" jsonschema:"keys a server looks at without serving others meanwhile (COUNT of SCAN); 500 if left out"`
	Pause        *Duration `json:"pause,omitempty" jsonschema:"leave a server alone for this long after each page; 10ms if left out"`
	Deadline     Duration  `json:"deadline,omitempty" jsonschema:"a sweep takes no longer; 5m if left out"`
	ConfirmAfter *Duration `json:"confirm_after,omitempty" jsonschema:"look again after this before a finding counts; 5s if left out"`
	MaxFindings  int       `json:"max_findings,omitempty" jsonschema:"keep so many findings and only count the others"`
	MaxValues    *int      `json:"max_values,omitempty" jsonschema:"read so many values per server and sweep, in turns; 0 reads all"`
}

// Notify is who is told.
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

// Webhook is a URL that takes reports as JSON.
type Webhook struct {
	URL         string   `json:"url,omitempty" jsonschema:"where reports are posted; this or url_file"`
	URLFile     string   `json:"url_file,omitempty" jsonschema:"file with a URL that is a secret"`
	EveryReport bool     `json:"every_report,omitempty" jsonschema:"also reports without findings: a sign of life"`
	Groups      []string `json:"groups,omitempty" jsonschema:"only of these groups"`
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

// file is a path as the configuration has it: relative to where that is.
func (f *File) file(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}
