package discover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// DefaultSample is the default number of keys in a sample.
const DefaultSample = 100_000

// clientName is the name of the connections in CLIENT LIST.
const clientName = "lockscope-discover"

// maxCompanions bounds the keys looked up because the sample has their helper keys.
const maxCompanions = 1000

// Options set the size of the sample and the load on the server. The zero value selects the defaults.
type Options struct {
	Sample   int           // keys of the server or cluster; 0: DefaultSample
	PageSize int           // COUNT of SCAN; 0: scanner.DefaultPageSize
	Pause    time.Duration // after each page; 0: scanner.DefaultPause; negative: none
}

func (o Options) complete() (Options, error) {
	if o.Sample < 0 || o.PageSize < 0 {
		return o, fmt.Errorf("%w: Sample and PageSize must not be negative", scanner.ErrInvalidOption)
	}
	if o.Sample == 0 {
		o.Sample = DefaultSample
	}
	if o.PageSize == 0 {
		o.PageSize = scanner.DefaultPageSize
	}
	if o.Pause == 0 {
		o.Pause = scanner.DefaultPause
	}
	return o, nil
}

// Sample reads some keys of a server, or of each master of a cluster, and reports which libraries' locks are among
// them. It works on single servers and clusters only. If ctx ends or a server fails, it returns that error together
// with what is known by then. Options that make no sense match scanner.ErrInvalidOption.
func Sample(ctx context.Context, client redis.UniversalClient, o Options) (Result, error) {
	o, err := o.complete()
	if err != nil {
		return Result{}, err
	}
	masters, closeAll, err := mastersOf(ctx, client)
	if err != nil {
		return Result{}, err
	}
	defer closeAll()
	share := max(1, o.Sample/len(masters))
	result, err := Result{Whole: true}, error(nil)
	var all []seen
	strangers := make(map[string]bool)
	for _, m := range masters {
		s := &sampler{client: m, options: o, left: share, companions: make(map[string]string),
			strangers: strangers}
		whole, failed := s.run(ctx)
		result.Whole = result.Whole && whole
		result.Sampled += s.sampled
		all = append(all, s.seen...)
		err = errors.Join(err, failed)
	}
	result.Found = collect(all, strangers)
	return result, err
}

// mastersOf makes its own clients.
func mastersOf(ctx context.Context, client redis.UniversalClient) (masters []*redis.Client, closeAll func(),
	err error) {
	switch client := client.(type) {
	case *redis.Client:
		own := node.Connect(client, clientName, new(node.Sockets))
		return []*redis.Client{own}, func() { _ = own.Close() }, nil
	case *redis.ClusterClient:
		own := node.ConnectCluster(client, clientName, new(node.Sockets))
		masters, err := node.Masters(ctx, own)
		if err != nil {
			return nil, nil, errors.Join(redisconn.Scrub(err), own.Close())
		}
		return masters, func() { _ = own.Close() }, nil
	}
	return nil, nil, fmt.Errorf("%w: cannot sample a %T: use a *redis.Client or *redis.ClusterClient",
		scanner.ErrInvalidNode, client)
}

// helpers are the keys that show what kind of lock they belong to: the first group is its name.
var helpers = map[string]*regexp.Regexp{
	"waiters": regexp.MustCompile(`^redisson_lock_(?:queue|timeout):\{(.+)\}$`),
	"permits": regexp.MustCompile(`^\{(.+)\}:timeout$`),
}

// sampler reads one master.
type sampler struct {
	client  *redis.Client
	options Options
	left    int

	sampled    int64
	seen       []seen
	companions map[string]string // the kind of helper key, by the name of the lock
	strangers  map[string]bool   // keys that are no locks
}

func (s *sampler) run(ctx context.Context) (whole bool, err error) {
	reader := keyreader.New(s.client, s.client,
		keyreader.Query{Pattern: "*", Count: s.options.PageSize, Limit: keyreader.NoLimit}, keyreader.Capability{})
	more := false
	for cursor, first := uint64(0), true; !more && (first || cursor != 0); first = false {
		var keys []string
		if keys, cursor, err = s.client.Scan(ctx, cursor, "*", int64(s.options.PageSize)).Result(); err != nil {
			return false, redisconn.Scrub(err)
		}
		if len(keys) >= s.left {
			more = len(keys) > s.left || cursor != 0
			keys = keys[:s.left]
		}
		s.left -= len(keys)
		if err := s.look(ctx, reader, keys); err != nil {
			return false, err
		}
		if !more && cursor != 0 && !clock.Pause(ctx, s.options.Pause) {
			return false, context.Cause(ctx)
		}
	}
	return !more, s.finish(ctx, reader)
}

func (s *sampler) look(ctx context.Context, reader *keyreader.Reader, keys []string) error {
	values, err := reader.Look(ctx, keys)
	if err != nil {
		return redisconn.Scrub(err)
	}
	for i := range values {
		v := &values[i]
		if v.Gone() {
			continue
		}
		s.sampled++
		s.note(v)
		if !keyreader.IsHelper(v.Key) {
			s.take(&entry{Value: v})
		}
	}
	return nil
}

func (s *sampler) take(e *entry) {
	if c, ok := recognise(e); ok {
		s.seen = append(s.seen, seen{clue: c, key: e.Key, ttl: e.TTL, life: life(c.since, e.TTL)})
		delete(s.strangers, e.Key)
	} else {
		s.strangers[e.Key] = true
	}
}

// life returns the time from a lock's start to its end, and at least its TTL even if the local clock is behind.
func life(since time.Time, ttl time.Duration) time.Duration {
	if since.IsZero() || ttl < 0 {
		return 0
	}
	return ttl + max(0, time.Since(since))
}

// note records which lock a helper key belongs to.
func (s *sampler) note(v *keyreader.Value) {
	for kind, names := range helpers {
		m := names.FindStringSubmatch(v.Key)
		if m != nil && (kind != "permits" || v.Type == "zset") && len(s.companions) < maxCompanions {
			s.companions[m[1]] = kind
		}
	}
}

// finish looks at the keys whose helpers were in the sample.
func (s *sampler) finish(ctx context.Context, reader *keyreader.Reader) error {
	if len(s.companions) == 0 {
		return nil
	}
	s.seen = slices.DeleteFunc(s.seen, func(one seen) bool { return s.companions[one.key] != "" })
	values, err := reader.Look(ctx, slices.Collect(maps.Keys(s.companions)))
	if err != nil {
		return redisconn.Scrub(err)
	}
	for i := range values {
		if v := &values[i]; !v.Gone() {
			s.take(&entry{Value: v, beside: s.companions[v.Key]})
		}
	}
	return nil
}
