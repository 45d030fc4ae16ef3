package embedded

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TestHeads_KeepLittleOfABody: it may have 1 MiB, of each of 200,000 streams, and be a part of a larger message.
func TestHeads_KeepLittleOfABody(t *testing.T) {
	t.Parallel()
	c := newHeadCache()
	small, large := []byte(`{"$tb":9223372036854775807,"x":1}`),
		[]byte(`{"$tb":9223372036854775807,"x":"`+strings.Repeat("x", bodyKept)+`"}`)
	for name, body := range map[string][]byte{"small": small, "large": large, "other": []byte(`{"$tb":5}`)} {
		c.put(name, head{last: 1, isJSON: true, body: body, meta: parseStreamMeta(true, body)})
	}
	small[0] = '#'
	for name, want := range map[string]struct {
		body string
		cut  bool
	}{"small": {`{"$tb":9223372036854775807,"x":1}`, false}, "large": {"", true}, "other": {"", false}} {
		if h, _ := c.lru.Get(name); string(h.body) != want.body || h.cut != want.cut || h.last != 1 {
			t.Errorf("%s: %q, cut %t", name, h.body, h.cut)
		}
	}
	sql := `select n, 1::bigint, 0::bigint, true, $2 from unnest($1::text[]) n`
	for most, kept := range map[int]bool{0: false, bodyKept: false, len(large): true} {
		got, err := loadHeads(t.Context(), withBody{testSession(t, testSessions(t)), large}, sql, []string{"$$s"}, most)
		h := got["$$s"]
		if err != nil || kept != bytes.Equal(h.body, large) || kept == h.cut || !h.meta.softDeleted() {
			t.Errorf("up to %d bytes: %d, cut %t, %v", most, len(h.body), h.cut, err)
		}
	}
}

// TestDecide_AWriteThatNeedsLargeMetadataStandsAlone: each group has room for one, and answers those that it decides.
func TestDecide_AWriteThatNeedsLargeMetadataStandsAlone(t *testing.T) {
	t.Parallel()
	large := `{"$tb":9223372036854775807,"x":"` + strings.Repeat("x", bodyKept) + `"}`
	deleted := head{id: 2, isJSON: true, cut: true, meta: parseStreamMeta(true, []byte(large))}
	q := &sequencer{
		session: &session{conn: testSession(t, testSessions(t))}, heads: newHeadCache(), recent: newRecentEvents(),
		queries: &queries{heads: `select n, 2::bigint, 0::bigint, true, convert_to('` + large + `', 'UTF8')
			from unnest($1::text[]) n`},
	}
	proposed := func(stream string) *write {
		return &write{stream: stream, expected: expectAny, events: []proposal{{id: uuid.New(), kind: "e"}},
			caller: t.Context(), reply: make(chan reply, 1)}
	}
	var batch []*write
	for _, stream := range []string{"plain", "deleted", "plain", "deleted-2", "plain"} {
		batch = append(batch, proposed(stream))
	}
	before := map[string]head{
		"plain": {id: 1}, "$$plain": emptyHead,
		"deleted": {id: 3}, "$$deleted": deleted, "deleted-2": {id: 4}, "$$deleted-2": deleted,
	}
	for _, want := range []int{1, 1, 1, 1, 1} {
		g := q.newGroup(nil)
		g.before = before
		end, err := q.decideAll(t.Context(), g, batch, map[*write]outcome{})
		if err != nil || end != want || len(g.answers) != end {
			t.Fatalf("%d of %d are decided, %d have answers, %v", end, len(batch), len(g.answers), err)
		}
		if last := g.rows[len(g.rows)-1]; last.kind == metadataType && len(last.data) < bodyKept {
			t.Errorf("the metadata becomes %s", last.data)
		}
		batch = batch[end:]
	}
	for name, h := range before {
		if len(h.body) > 0 {
			t.Errorf("the metadata of %s stays in memory", name)
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
