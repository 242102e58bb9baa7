package servers

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/etcdlock"
	"github.com/lockscope/lockscope/lock/pglock"
)

// Field is a line of a group in a configuration file. Value is YAML.
type Field struct{ Name, Value string }

// Fields are what the flags say of a system, as a group of a configuration file has it. There is no password in them.
func (f *OtherFlags) Fields(system string, t TLS) (all []Field) {
	add := func(name, value, unless string) {
		if value != unless {
			all = append(all, Field{name, strconv.Quote(value)})
		}
	}
	secret := func(name, path string) {
		if absolute, err := filepath.Abs(path); path != "" && err == nil {
			add(name, absolute, "")
		}
	}
	c := &f.config
	switch system {
	case "postgresql":
		add("postgres", withoutSecret(c.Postgres), "")
		add("schema", c.Schema, pglock.DefaultSchema)
		secret("password_file", f.postgresPasswordFile)
	case "etcd":
		all = append(all, Field{"etcd", quoted(f.etcd.Values())})
		add("etcd_prefix", c.EtcdPrefix, lock.DefaultPrefix)
		add("etcd_fence_key", c.EtcdFenceKey, etcdlock.DefaultFenceKey)
		add("username", c.EtcdUsername, "")
		secret("password_file", f.passwordFile)
	case "zookeeper":
		all = append(all, Field{"zookeeper", quoted(f.zookeeper.Values())})
		add("zookeeper_root", c.ZooKeeperRoot, zklock.DefaultRoot)
		return all
	}
	if text := tlsField(t); text != "" {
		all = append(all, Field{"tls", text})
	}
	return all
}

func quoted(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func tlsField(t TLS) string {
	var parts []string
	for _, one := range []struct{ name, path string }{{"ca", t.CA}, {"cert", t.Cert}, {"key", t.Key}} {
		if path, err := filepath.Abs(one.path); one.path != "" && err == nil {
			parts = append(parts, one.name+": "+strconv.Quote(path))
		}
	}
	if t.SkipVerify {
		parts = append(parts, "insecure_skip_verify: true")
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// withoutSecret is a connection string as a URL without its password. Of the pairs of psql it has where the database
// is.
func withoutSecret(text string) string {
	u, err := url.Parse(text)
	if err == nil && u.Host != "" {
		u.User = userOf(u.User.Username())
		query := u.Query()
		query.Del("password")
		query.Del("sslpassword")
		u.RawQuery = query.Encode()
		return u.String()
	}
	c, err := pgx.ParseConfig(text)
	if err != nil {
		return ""
	}
	u = &url.URL{Scheme: "postgres", User: userOf(c.User), Path: "/" + c.Database}
	query := url.Values{"host": {c.Host}, "port": {strconv.Itoa(int(c.Port))}}
	u.RawQuery = query.Encode()
	return u.String()
}

func userOf(name string) *url.Userinfo {
	if name == "" {
		return nil
	}
	return url.User(name)
}
