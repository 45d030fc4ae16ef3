package embedded_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// TestScavenge_ARepeatWhoseEndIsThereIsKnown, although its other events are gone: it is not written twice, and not
// refused.
func TestScavenge_ARepeatWhoseEndIsThereIsKnown(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	client := contract.Connect(t, n.URL())
	deleted, counted := several(3), several(2)
	first := mustAppend(t, client, "deleted", esdb.NoStream{}, deleted...)
	deleteStream(t, client, "deleted")
	mustAppend(t, client, "counted", esdb.NoStream{}, several(6)...)
	second := mustAppend(t, client, "counted", esdb.Revision(5), counted...)
	setMeta(t, client, "counted", func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })
	scavenge(t, n)
	before := wholeLog(t, client)
	if again := mustAppend(t, client, "deleted", esdb.NoStream{}, deleted...); *again != *first {
		t.Errorf("the repeat for a deleted stream: %+v, the original %+v", again, first)
	}
	if again := mustAppend(t, client, "counted", esdb.Revision(5), counted...); *again != *second {
		t.Errorf("the repeat for a truncated stream: %+v, the original %+v", again, second)
	}
	if after := wholeLog(t, client); len(after) != len(before) {
		t.Errorf("the log has %v, before the repeats %v", after, before)
	}
}

// failing has the database fail, or take its time, where it deletes an event of a stream.
func failing(t *testing.T, cfg embedded.Config, stream, how string) {
	t.Helper()
	run(t, cfg, `create function {schema}.hinder() returns trigger language plpgsql as $$ begin
			if old.stream_id = (select id from {schema}.streams where name = '`+stream+`') then `+how+`; end if;
			return old; end $$`,
		`create trigger hinder before delete on {schema}.events for each row execute function {schema}.hinder()`)
}

// TestScavenge_OneStreamThatFailsKeepsNoOther: those after it are cleared, and the pass names it.
func TestScavenge_OneStreamThatFailsKeepsNoOther(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	for _, stream := range []string{"a", "b"} {
		fourOfWhichOneIsSeen(t, client, stream)
	}
	mustAppend(t, client, "ended", esdb.NoStream{}, several(2)...)
	endStream(t, client, "ended")
	failing(t, cfg, "a", `raise exception 'damaged'`)
	var number int
	query(t, cfg, `select id from {schema}.streams where name = 'a'`, &number)
	err := embedded.Scavenge(t.Context(), n, nil)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("stream number %d", number)) {
		t.Errorf("the pass says %v", err)
	}
	for stream, want := range map[string]int{"a": 4, "b": 1, "ended": 1} {
		if left := countOf(t, cfg, `name = '`+stream+`'`); left != want {
			t.Errorf("%s has %d events left, want %d", stream, left, want)
		}
	}
}

// TestScavenge_WhatTakesLongIsDoneInSmallerParts: the database would end a transaction that removes all at once.
func TestScavenge_WhatTakesLongIsDoneInSmallerParts(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "s", esdb.NoStream{}, several(29)...)
	setMeta(t, client, "s", func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })
	failing(t, cfg, "s", `perform pg_sleep(0.08)`)
	scavenge(t, n)
	if left := countOf(t, cfg, `name = 's'`); left != 1 {
		t.Errorf("%d events are left", left)
	}
}

// TestScavenge_ALookThatTakesLongDoesNotEndThePass: the rest after it is shorter than the server waits for a session.
func TestScavenge_ALookThatTakesLongDoesNotEndThePass(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.HolderSilence = 3 * time.Second
	n := start(t, cfg)
	fourOfWhichOneIsSeen(t, contract.Connect(t, n.URL()), "s")
	hinders, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hinders.Rollback(context.Background()) }()
	if _, err := hinders.Exec(t.Context(), inSchema(cfg, `lock table {schema}.streams`)); err != nil {
		t.Fatal(err)
	}
	passed := make(chan error, 1)
	go func() { passed <- embedded.Scavenge(t.Context(), n, nil) }()
	for waits := false; !waits; {
		query(t, cfg, `select exists (select from pg_stat_activity where wait_event_type = 'Lock'
			and query like '%{schema}.streams where name%' and now() - query_start > interval '2 seconds')`, &waits)
	}
	if err := hinders.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-passed; err != nil {
		t.Fatal(err)
	}
	if left := countOf(t, cfg, `name = 's'`); left != 1 {
		t.Errorf("%d events are left", left)
	}
}
