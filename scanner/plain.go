package scanner

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The plain commands do in a few round trips what the scripts do in one. They are
// not atomic: what they say of a key may mix two of its values. The second look
// then sees another one.

// plainPage is page.lua in plain commands: SCAN, then a pipeline.
func (r *run) plainPage(ctx context.Context, t *target, req pageRequest) (pageReply, error) {
	cursor, err := strconv.ParseUint(req.cursor, 10, 64)
	if err != nil {
		return pageReply{}, ErrBadReply
	}
	t.calls++
	keys, next, err := t.pages.Scan(ctx, cursor, r.cfg.pattern, int64(r.cfg.pageSize)).Result()
	if err != nil {
		return pageReply{}, err
	}
	p := pageReply{next: strconv.FormatUint(next, 10)}
	var looks []*look
	for _, key := range keys {
		if r.mixed && helperKey(key) {
			continue
		}
		p.locks++
		looks = append(looks, &look{value: value{key: key}, wanted: req.first <= p.locks && p.locks <= req.last})
	}
	l := looker{ctx: ctx, client: t.pages, calls: &t.calls, limit: r.ttlLimit()}
	p.values, err = l.describe(looks)
	return p, err
}

// look is a value in the making.
type look struct {
	value
	wanted bool // whatever its TTL
	gone   bool
	pttl   *redis.Cmd
	head   *redis.Cmd
	more   *redis.Cmd // STRLEN, EXISTS or TYPE
	bytes  *redis.Cmd
}

// looker runs the stages of describing keys; each is one pipeline, and only the
// first two are needed for what locks usually are.
type looker struct {
	ctx    context.Context
	client redis.UniversalClient
	calls  *int64
	limit  int64
	pipe   redis.Pipeliner
}

func (l *looker) describe(looks []*look) ([]value, error) {
	stages := []func([]*look) []*look{l.readTTLs, l.readHeads, l.readRest, l.readHashes, l.readFields}
	open := looks
	for _, stage := range stages {
		l.pipe = l.client.Pipeline()
		open = stage(open)
		if err := l.exec(); err != nil {
			return nil, err
		}
	}
	var values []value
	for _, k := range looks {
		if k.finish() {
			values = append(values, k.value)
		}
	}
	return values, nil
}

// exec runs what the stage has collected. It fails if there is no answer, or one
// that is not about a key: what a key's own answers mean, the next stage sees.
func (l *looker) exec() error {
	if l.pipe.Len() == 0 {
		return nil
	}
	*l.calls += int64(l.pipe.Len())
	cmds, _ := l.pipe.Exec(l.ctx)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !aboutKey(err) && !strings.EqualFold(cmd.Name(), "memory") {
			return err
		}
	}
	return nil
}

// aboutKey says that an error tells of the key asked for: its type, that it is
// gone, or that its slot is on another server.
func aboutKey(err error) bool {
	for _, prefix := range []string{"WRONGTYPE", "MOVED", "ASK", "TRYAGAIN"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return err == redis.Nil
}

func (l *looker) do(args ...any) *redis.Cmd { return l.pipe.Do(l.ctx, args...) }

func (l *looker) readTTLs(all []*look) []*look {
	for _, k := range all {
		k.pttl = l.do("pttl", k.key)
		if k.wanted {
			k.head = l.do("getrange", k.key, 0, headSize-1)
		}
	}
	return all
}

func (l *looker) readHeads(all []*look) []*look {
	var chosen []*look
	for _, k := range all {
		pttl, err := k.pttl.Int64()
		k.gone = err != nil || pttl == -2
		if k.gone || !k.suspect(pttl, l.limit) && !k.wanted {
			continue
		}
		k.ttl = ttlOf(pttl)
		chosen = append(chosen, k)
		if k.head == nil {
			k.head = l.do("getrange", k.key, 0, headSize-1)
		}
	}
	return chosen
}

func (k *look) suspect(pttl, limit int64) bool { return pttl == -1 || pttl > limit }

func (l *looker) readRest(chosen []*look) []*look {
	var others []*look
	for _, k := range chosen {
		head, err := k.head.Text()
		switch {
		case err != nil:
			k.more = l.do("type", k.key)
			others = append(others, k)
		case len(head) == headSize:
			k.more = l.do("strlen", k.key)
		case head == "":
			k.more = l.do("exists", k.key)
		}
		if err == nil {
			k.kind, k.value.head, k.size = kindString, head, int64(len(head))
		}
	}
	return others
}

func (l *looker) readHashes(others []*look) []*look {
	var hashes []*look
	for _, k := range others {
		k.kind, _ = k.more.Text()
		if k.kind == "" || k.kind == kindNone {
			k.gone = true
		}
		if k.kind == kindHash {
			k.more = l.do("hlen", k.key)
			k.bytes = l.do("memory", "usage", k.key, "samples", 0)
			hashes = append(hashes, k)
		}
	}
	return hashes
}

func (l *looker) readFields(hashes []*look) []*look {
	for _, k := range hashes {
		size, err := k.more.Int64()
		k.gone = err != nil || size == 0
		k.size, k.more = size, nil
		if k.gone || size > maxFields {
			continue
		}
		bytes, err := k.bytes.Int64()
		if err != nil {
			k.size = unmeasured
		} else if bytes <= maxHashBytes {
			k.more = l.do("hgetall", k.key)
		}
	}
	return nil
}

// finish reads the last answers, and says whether the key is there and chosen.
func (k *look) finish() bool {
	if k.gone || k.kind == "" {
		return false
	}
	switch {
	case k.kind == kindString && k.more != nil:
		n, err := k.more.Int64()
		if k.value.head == "" {
			return err == nil && n > 0 // EXISTS
		}
		k.size = n
		return err == nil
	case k.kind == kindHash && k.more != nil:
		texts, ok := fieldTexts(k.more.Val())
		k.setFields(texts)
		return ok
	}
	return true
}

// fieldTexts reads HGETALL as RESP2 and RESP3 have it.
func fieldTexts(reply any) ([]string, bool) {
	switch reply := reply.(type) {
	case []any:
		texts, err := stringsOf(reply)
		return texts, err == nil && len(texts) > 0
	case map[any]any:
		var parts []any
		for name, v := range reply {
			parts = append(parts, name, v)
		}
		texts, err := stringsOf(parts)
		return texts, err == nil && len(texts) > 0
	}
	return nil, false
}
