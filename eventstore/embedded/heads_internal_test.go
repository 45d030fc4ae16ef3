package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestHeads_TheirMemoryIsBoundedInBytes: a name may have 1,024 of them, and the metadata of a deleted stream many more.
func TestHeads_TheirMemoryIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	c := newHeadCache()
	body := []byte(`{"$tb":9223372036854775807,"x":"` + strings.Repeat("x", 60_000) + `"}`)
	deleted := head{last: 1, isJSON: true, body: body, meta: parseStreamMeta(true, body)}
	for i := range 2000 {
		if i < 1400 {
			c.put(fmt.Sprint("$$", i%700), deleted) // which has room twice
		} else {
			c.put(fmt.Sprint("$$", i), deleted)
		}
		c.put(fmt.Sprint("$$other-", i), head{last: 1, isJSON: true, body: body})
	}
	kept, bytes := 0, 0
	for _, name := range c.Keys() {
		h, _ := c.Peek(name)
		bytes += len(name) + len(h.body) + headBytes
		if len(h.body) > 0 {
			kept++
			if &h.body[0] == &body[0] {
				t.Fatal("a head keeps the message that brought it")
			}
		}
	}
	if kept < 500 || bytes != c.bytes || bytes > headsKept {
		t.Errorf("%d bodies, %d bytes, counted as %d", kept, bytes, c.bytes)
	}
	if c.Purge(); c.bytes != 0 {
		t.Errorf("the empty cache has %d bytes", c.bytes)
	}
}

// TestHeads_ReadersGetNoBodies: a read of links asks for those of 2,048 streams at a time.
func TestHeads_ReadersGetNoBodies(t *testing.T) {
	t.Parallel()
	const sql = `select n, 1::bigint, 0::bigint, true, $2 from unnest($1::text[]) n`
	conn := testSession(t, testSessions(t))
	for text, kept := range map[string]bool{`{"$tb":9223372036854775807,"x":1}`: true, `{"$tb":5}`: false} {
		for _, asked := range []bool{false, true} {
			got, err := loadHeads(t.Context(), withBody{conn, []byte(text)}, sql, []string{"$$s"}, asked)
			h := got["$$s"]
			if err != nil || (len(h.body) > 0) != (kept && asked) || h.meta.before == 0 {
				t.Errorf("%s, asked for %t: %q, %v", text, asked, h.body, err)
			}
		}
	}
}

// withBody gives every stream the same body.
type withBody struct {
	querier
	body []byte
}

// Query adds the body to the arguments.
func (w withBody) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return w.querier.Query(ctx, sql, append(args, w.body)...)
}

// TestNames_TheirMemoryIsBoundedInBytes: a name may have 1,024 of them.
func TestNames_TheirMemoryIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	n := newStreamNames(nil)
	long := strings.Repeat("x", maxNameBytes-10)
	for i := range int64(50_000) {
		n.put(i%40_000, fmt.Sprint(long, i))
	}
	if n.kept.Len() < 20_000 || n.kept.bytes > namesKept {
		t.Errorf("%d names, counted as %d bytes", n.kept.Len(), n.kept.bytes)
	}
	if _, known := n.get(9_999); !known {
		t.Error("the newest one is not there")
	}
}

// TestRelated_HasEveryHeadThatTheRulesAskFor: others are not in memory when a write is decided.
func TestRelated_HasEveryHeadThatTheRulesAskFor(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"x", "$$x", "$$$$x", "$x"} {
		stateOf(stream, func(name string) head {
			if !slices.Contains(related(stream), name) {
				t.Errorf("the rules for %s ask for the head of %s", stream, name)
			}
			return head{last: 3}
		})
	}
}
