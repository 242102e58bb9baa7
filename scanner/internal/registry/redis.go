package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

const (
	memoryKey = "lockscope:scanner:memory:"
	// memoryTTL is how long Redis keeps the data after the last save.
	memoryTTL = 7 * 24 * time.Hour
	// memoryTimeout bounds reading and writing it on one server.
	memoryTimeout = 2 * time.Second
)

// Redis is a key on several servers.
type Redis struct {
	clients []redis.UniversalClient
	key     string
}

// NewRedis keeps the data under that name.
func NewRedis(clients []redis.UniversalClient, name string) *Redis {
	return &Redis{clients: clients, key: memoryKey + name}
}

// Load returns the newest data.
func (s *Redis) Load(ctx context.Context) ([]byte, error) {
	texts := make([][]byte, len(s.clients))
	err := s.each(ctx, func(ctx context.Context, i int, c redis.UniversalClient) error {
		text, err := c.Get(ctx, s.key).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		texts[i] = text
		return err
	})
	if err != nil {
		return nil, err
	}
	var newest int64
	var data []byte
	for _, text := range texts {
		stamp, rest, ok := bytes.Cut(text, []byte("\n"))
		if at, err := strconv.ParseInt(string(stamp), 10, 64); ok && err == nil && at > newest {
			newest, data = at, rest
		}
	}
	return data, nil
}

// Save succeeds when at least one server has the data.
func (s *Redis) Save(ctx context.Context, data []byte) error {
	text := append(strconv.AppendInt(nil, time.Now().UnixMilli(), 10), '\n')
	text = append(text, data...)
	return s.each(ctx, func(ctx context.Context, _ int, c redis.UniversalClient) error {
		return c.Set(ctx, s.key, text, memoryTTL).Err()
	})
}

// each calls do for all servers at once. It fails only if do failed for all.
func (s *Redis) each(ctx context.Context, do func(ctx context.Context, i int, c redis.UniversalClient) error) error {
	ctx, cancel := context.WithTimeout(ctx, memoryTimeout)
	defer cancel()
	errs := make([]error, len(s.clients))
	var wg sync.WaitGroup
	for i, c := range s.clients {
		wg.Go(func() {
			if err := do(ctx, i, c); err != nil {
				errs[i] = fmt.Errorf("%s: %w", s.key, redisconn.Scrub(err))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err == nil {
			return nil
		}
	}
	return errors.Join(errs...)
}
