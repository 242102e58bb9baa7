package top

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// maxValue is how much of a lock's value is read: more than lockscope writes.
const maxValue = 2048

// vote is what one node has under a lock key.
type vote struct {
	mark  string // tells holders apart; holds a secret and is never shown
	value string
	ttl   time.Duration // negative: never expires
}

// maxSlots bounds how many slots of semaphores are read beside the locks that are waited for.
const maxSlots = 500

// readLocks reads who has the locks, and the other slots of semaphores.
func (s *redisSet) readLocks(ctx context.Context, ask []asker, all []listing.WaitedFor, nodes int) {
	asked := slices.Clone(all)
	for _, key := range listing.OtherSlots(all, maxSlots) {
		asked = append(asked, listing.WaitedFor{Key: key, Resource: s.resource(key)})
	}
	s.readHolders(ctx, ask, asked, nodes)
	copy(all, asked)
	locks := make(map[string]*listing.Lock, len(asked))
	for i := range asked {
		locks[asked[i].Key] = asked[i].Lock
	}
	listing.ReadSlots(all, func(key string) (*listing.Lock, bool) { l, known := locks[key]; return l, known })
}

// readHolders reads who has the locks, on all nodes that answer at nearly the same time. nodes is how many there are.
func (s *redisSet) readHolders(ctx context.Context, ask []asker, all []listing.WaitedFor, nodes int) {
	if len(all) == 0 {
		return
	}
	values, ttls := make([][]*redis.StringCmd, len(ask)), make([][]*redis.DurationCmd, len(ask))
	answered := make([]bool, len(ask))
	asked := time.Now()
	hashes := make([][]bool, len(ask))
	s.each(ctx, ask, "read locks", func(ctx context.Context, i int) error {
		_, err := ask[i].cmd.Pipelined(ctx, func(p redis.Pipeliner) error {
			for k := range all {
				values[i] = append(values[i], p.GetRange(ctx, all[k].Key, 0, maxValue-1))
				ttls[i] = append(ttls[i], p.PTTL(ctx, all[k].Key))
			}
			return nil
		})
		if err != nil && !redisconn.IsReply(err) {
			return err
		}
		hashes[i] = make([]bool, len(all))
		for k, value := range values[i] {
			hashes[i][k] = redis.HasErrorPrefix(value.Err(), "WRONGTYPE")
		}
		answered[i] = !redis.HasErrorPrefix(err, "NOPERM") && !redis.HasErrorPrefix(err, "NOAUTH")
		if !answered[i] {
			return err
		}
		return nil // a key of another type is another library's
	})
	readers := s.readReaders(ctx, ask, all, hashes)
	for k := range all {
		var votes []vote
		of := 0
		for i := range ask {
			if !answered[i] {
				continue
			}
			of++
			if v, ok := voteOf(values[i][k], ttls[i][k]); ok {
				votes = append(votes, v)
			}
		}
		all[k].Lock = lockOf(&all[k], votes, of, max(0, nodes-of))
		if l := readersOf(&all[k], readers[k], of, max(0, nodes-of)); l != nil && len(readers[k]) >= len(votes) {
			l.Split = len(votes) > 0
			all[k].Lock = l
		}
		if all[k].Lock != nil {
			all[k].Lock.At = asked
		}
	}
}

func voteOf(value *redis.StringCmd, ttl *redis.DurationCmd) (v vote, ok bool) {
	text := value.Val()
	if value.Err() != nil || errors.Is(ttl.Err(), redis.Nil) || text == "" {
		return vote{}, false
	}
	mark, _, _ := strings.Cut(text, ":")
	return vote{mark: mark, value: text, ttl: ttl.Val()}, true
}

// lockOf combines the votes into one lock, of the holder that most nodes have; nil if none has it.
func lockOf(w *listing.WaitedFor, votes []vote, of, silent int) *listing.Lock {
	byHolder := make(map[string][]vote)
	for _, v := range votes {
		byHolder[v.mark] = append(byHolder[v.mark], v)
	}
	var first []vote
	for _, same := range byHolder {
		if len(same) > len(first) || len(same) == len(first) && same[0].mark < first[0].mark {
			first = same
		}
	}
	if len(first) == 0 {
		return nil
	}
	l := &listing.Lock{
		Key: w.Key, Resource: w.Resource, Nodes: len(first), Of: of, Silent: silent, Split: len(byHolder) > 1,
		Hold: report.Hold{Format: report.FormatUnknown},
	}
	var fences []uint64
	for _, v := range first {
		fence, holder, ok := redlock.ParseValue(v.value)
		if ok {
			l.Hold = report.Hold{Holder: holder, Format: report.FormatLockscope}
		}
		fences = append(fences, fence)
	}
	// The holder has the highest count of a quorum; a minority may have granted too late, with a later count.
	slices.Sort(fences)
	unheard := of + silent - ((of+silent)/2 + 1)
	l.Hold.Fence = fences[max(0, len(fences)-1-unheard)]
	l.TTL = quorumTTL(first, l.Quorum())
	return l
}

// quorumTTL is the TTL whose end is the end of the quorum.
func quorumTTL(votes []vote, quorum int) time.Duration {
	if len(votes) < quorum {
		return 0
	}
	slices.SortFunc(votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(rank(b.ttl), rank(a.ttl)), strings.Compare(a.value, b.value))
	})
	return votes[quorum-1].ttl
}

func rank(ttl time.Duration) time.Duration {
	if ttl < 0 {
		return 1<<63 - 1
	}
	return ttl
}
