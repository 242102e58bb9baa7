package keyreader

import (
	"context"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock/driver"

	"github.com/redis/go-redis/v9"
)

// The plain commands do in a few round trips what the scripts do in one. They are
// not atomic: what they say of a key may mix two of its values. A second look then
// sees another one.

// plainPage is page.lua in plain commands: SCAN, then a pipeline.
func (r *Reader) plainPage(ctx context.Context, cursor string, wanted Wanted) (Page, error) {
	from, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return Page{}, driver.ErrBadReply
	}
	r.calls++
	keys, next, err := r.pages.Scan(ctx, from, r.query.Pattern, int64(r.query.Count)).Result()
	if err != nil {
		return Page{}, err
	}
	p := Page{Next: strconv.FormatUint(next, 10)}
	var all []*inspection
	for _, key := range keys {
		if r.mixed && IsHelper(key) {
			continue
		}
		p.Keys++
		all = append(all, &inspection{Value: Value{Key: key}, wanted: wanted.First <= p.Keys && p.Keys <= wanted.Last})
	}
	in := r.inspector(ctx, r.pages, small)
	in.limit = r.query.limit()
	p.Values, err = in.describe(all)
	return p, err
}

// plainLook is look.lua in plain commands, for all keys at once.
func (r *Reader) plainLook(ctx context.Context, keys []string, limits hashLimits) ([]Value, error) {
	all := make([]*inspection, len(keys))
	for i, key := range keys {
		all[i] = &inspection{Value: Value{Key: key}, wanted: true}
	}
	in := r.inspector(ctx, r.master, limits)
	found, err := in.describe(all)
	if err != nil {
		return nil, err
	}
	values := make([]Value, len(keys))
	for i, key := range keys {
		values[i] = gone(key)
		if len(found) > 0 && found[0].Key == key {
			values[i], found = found[0], found[1:]
		}
	}
	return values, nil
}

// inspection is a Value in the making.
type inspection struct {
	Value
	wanted bool // whatever its TTL
	gone   bool
	asking bool // its slot is on the move to this server: each command follows an ASKING
	pttl   *redis.Cmd
	head   *redis.Cmd
	more   *redis.Cmd // STRLEN, EXISTS or TYPE
	record *redis.Cmd
	bytes  *redis.Cmd
	sample *redis.Cmd
}

// inspector describes keys in stages, each one pipeline. What locks usually are needs only the first two.
type inspector struct {
	ctx    context.Context
	client *redis.Client
	reader *Reader // counts
	limit  int64
	hashes hashLimits
	pipe   redis.Pipeliner
}

func (r *Reader) inspector(ctx context.Context, client *redis.Client, limits hashLimits) *inspector {
	return &inspector{ctx: ctx, client: client, reader: r, hashes: limits}
}

func (in *inspector) describe(all []*inspection) ([]Value, error) {
	stages := []func([]*inspection) []*inspection{in.readTTLs, in.askTTLs, in.readHeads, in.readRest, in.readHashes,
		in.readFields}
	open := all
	for _, stage := range stages {
		in.pipe = in.client.Pipeline()
		open = stage(open)
		if err := in.exec(); err != nil {
			return nil, err
		}
	}
	var values []Value
	for _, k := range all {
		if k.redirected() {
			in.reader.redirected++
		} else if k.finish() {
			values = append(values, k.Value)
		} else if k.gone || k.Type != "" {
			values = append(values, gone(k.Key)) // released or replaced since it was listed, which leaves nothing unread
		}
	}
	return values, nil
}

// exec runs the commands of a stage. It fails if there is no answer, or an answer that is not about a key. The next
// stage reads the answers about keys.
func (in *inspector) exec() error {
	if in.pipe.Len() == 0 {
		return nil
	}
	in.reader.calls += int64(in.pipe.Len())
	return execute(in.ctx, in.pipe, optional)
}

// optional reports whether a server may refuse the command. Then less is known of large hashes.
func optional(cmd redis.Cmder) bool {
	return strings.EqualFold(cmd.Name(), "memory") || strings.EqualFold(cmd.Name(), "hrandfield")
}

func (in *inspector) do(k *inspection, args ...any) *redis.Cmd {
	if k.asking {
		in.pipe.Do(in.ctx, "asking") // is good for the one command after it
	}
	return in.pipe.Do(in.ctx, args...)
}

func (in *inspector) readTTLs(all []*inspection) []*inspection {
	for _, k := range all {
		k.pttl = in.do(k, "pttl", k.Key)
		if k.wanted {
			k.head = in.do(k, "getrange", k.Key, 0, HeadSize-1)
		}
	}
	return all
}

// askTTLs asks again for keys that have already moved to this server while their slot still belongs to another.
func (in *inspector) askTTLs(all []*inspection) []*inspection {
	var arriving []*inspection
	for _, k := range all {
		if slot, ok := movedSlot(k.pttl.Err()); ok && in.reader.importing.Has(slot) {
			k.asking = true
			arriving = append(arriving, k)
		}
	}
	in.readTTLs(arriving)
	return all
}

func (in *inspector) readHeads(all []*inspection) []*inspection {
	var chosen []*inspection
	for _, k := range all {
		pttl, err := k.pttl.Int64()
		k.gone = err != nil || pttl == -2
		if k.gone || !k.suspect(pttl, in.limit) && !k.wanted {
			continue
		}
		k.TTL = TTLOf(pttl)
		chosen = append(chosen, k)
		if k.head == nil {
			k.head = in.do(k, "getrange", k.Key, 0, HeadSize-1)
		}
	}
	return chosen
}

func (k *inspection) suspect(pttl, limit int64) bool { return pttl == -1 || pttl > limit }

func (in *inspector) readRest(chosen []*inspection) []*inspection {
	var others []*inspection
	for _, k := range chosen {
		head, err := k.head.Text()
		switch {
		case err != nil:
			k.more = in.do(k, "type", k.Key)
			others = append(others, k)
		case len(head) == HeadSize:
			k.more = in.do(k, "strlen", k.Key)
			if lockscopeValue.MatchString(head) {
				k.record = in.do(k, "getrange", k.Key, 0, recordSize-1)
			}
		case head == "":
			k.more = in.do(k, "exists", k.Key)
		}
		if err == nil {
			k.Type, k.Head, k.Size = String, head, int64(len(head))
		}
	}
	return others
}

func (in *inspector) readHashes(others []*inspection) []*inspection {
	var hashes []*inspection
	for _, k := range others {
		k.Type, _ = k.more.Text()
		if k.Type == "" || k.Type == None {
			k.gone = true
		}
		if k.Type == Hash {
			k.more = in.do(k, "hlen", k.Key)
			k.bytes = in.do(k, "memory", "usage", k.Key, "samples", 0)
			hashes = append(hashes, k)
		}
	}
	return hashes
}

func (in *inspector) readFields(hashes []*inspection) []*inspection {
	for _, k := range hashes {
		size, err := k.more.Int64()
		k.gone = err != nil || size == 0
		k.Size, k.more = size, nil
		bytes, err := k.bytes.Int64()
		switch {
		case k.gone:
		case size <= int64(in.hashes.fields) && err != nil:
			k.Size = Unmeasured
		case size <= int64(in.hashes.fields) && bytes <= int64(in.hashes.bytes):
			k.more = in.do(k, "hgetall", k.Key)
		case k.TTL == Never:
			k.sample = in.do(k, "hrandfield", k.Key)
		}
	}
	return nil
}

// redirected reports whether another server has to be asked for the key.
func (k *inspection) redirected() bool {
	for _, cmd := range []*redis.Cmd{k.pttl, k.head, k.more, k.record, k.bytes, k.sample} {
		if cmd != nil && isRedirection(cmd.Err()) {
			return true
		}
	}
	return false
}

// finish reads the last answers, and reports whether the key exists and is selected.
func (k *inspection) finish() bool {
	if k.gone || k.Type == "" {
		return false
	}
	switch {
	case k.Type == String && k.more != nil:
		n, err := k.more.Int64()
		if k.Head == "" {
			return err == nil && n > 0 // EXISTS
		}
		k.Size = n
		if k.record != nil {
			text, _ := k.record.Text()
			k.setText(text)
		}
		return err == nil
	case k.sample != nil:
		name, _ := k.sample.Text()
		k.LikeReaders = readerToken.MatchString(name)
	case k.Type == Hash && k.more != nil:
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
