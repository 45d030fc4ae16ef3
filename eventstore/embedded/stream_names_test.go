package embedded_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// TestNames_AreThoseOfTheStreams: of events whose streams come in runs and in turns, known ones and new ones in one
// page, forwards and backwards, and after a restart, when none is in memory.
func TestNames_AreThoseOfTheStreams(t *testing.T) {
	t.Parallel()
	config := testConfig(t)
	var want []string
	for round := range 2 {
		node := start(t, config)
		client := contract.Connect(t, node.URL())
		for n := range 40 {
			for _, name := range []string{fmt.Sprint("turns-", n%3), fmt.Sprintf("new-%d-%d", round, n)} {
				_, err := client.AppendToStream(t.Context(), name, esdb.AppendToStreamOptions{
					ExpectedRevision: esdb.Any{},
				}, esdb.EventData{
					EventID: uuid.New(), EventType: name, ContentType: esdb.ContentTypeJson, Data: []byte("1"),
				})
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, name)
			}
		}
		for _, direction := range []esdb.Direction{esdb.Forwards, esdb.Backwards, esdb.Forwards} {
			from := esdb.AllPosition(esdb.Start{})
			if direction == esdb.Backwards {
				from = esdb.End{}
			}
			if got := typesOfNamed(t, client, direction, from); got != len(want) {
				t.Errorf("round %d: %d events, want %d", round, got, len(want))
			}
		}
		client.Close()
		stop(t, node)
	}
}

// typesOfNamed reads $all, checks that each event, whose type is the name of its stream, has that name, and counts.
func typesOfNamed(t *testing.T, client *esdb.Client, direction esdb.Direction, from esdb.AllPosition) (count int) {
	t.Helper()
	r, err := client.ReadAll(t.Context(), esdb.ReadAllOptions{Direction: direction, From: from}, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		e, err := r.Recv()
		if err != nil {
			return count
		}
		if e.Event.EventType == "$User" {
			continue
		}
		if count++; e.Event.StreamID != e.Event.EventType {
			t.Errorf("an event of %s is given with %s", e.Event.EventType, e.Event.StreamID)
		}
	}
}

// TestNames_AreReadAnewAfterASessionWasLost: with a fail-over of the database a commit can be lost that a reader had
// seen, and the number of its stream become that of another one.
func TestNames_AreReadAnewAfterASessionWasLost(t *testing.T) {
	t.Parallel()
	config := testConfig(t)
	client := contract.Connect(t, start(t, config).URL())
	mustAppend(t, client, "first", esdb.NoStream{}, oneEvent())
	streams := func() (names []string) {
		list, err := readPlaces(t.Context(), client, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range list {
			names = append(names, at.stream)
		}
		return names
	}
	if got := streams(); !slices.Equal(got, []string{"first"}) { // now the name is in memory
		t.Fatalf("streams %v", got)
	}
	run(t, config, `update {schema}.streams set name = 'second' where name = 'first'`)
	run(t, config, `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 1
		and (classid::bigint << 32) | objid::bigint = `+fmt.Sprint(embedded.LockKey(config.Schema)))
	for failed := true; failed; { // until the node has a session again
		_, err := client.AppendToStream(t.Context(), "other", esdb.AppendToStreamOptions{}, oneEvent())
		failed = err != nil
	}
	if got := streams(); got[0] != "second" {
		t.Errorf("streams %v", got)
	}
}
