package embedded_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// scavenge makes one pass of a node over its log.
func scavenge(t *testing.T, n *embedded.Node) {
	t.Helper()
	if err := embedded.Scavenge(t.Context(), n, nil); err != nil {
		t.Fatal(err)
	}
}

// several makes so many events.
func several(n int) []esdb.EventData {
	list := make([]esdb.EventData, n)
	for i := range list {
		list[i] = oneEvent()
	}
	return list
}

// setMeta replaces the metadata of a stream.
func setMeta(t *testing.T, client *esdb.Client, stream string, change func(*esdb.StreamMetadata)) {
	t.Helper()
	m := esdb.StreamMetadata{}
	change(&m)
	options := esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}
	if _, err := client.SetStreamMetadata(t.Context(), stream, options, m); err != nil {
		t.Fatalf("metadata of %s: %v", stream, err)
	}
}

// deleteStream deletes a stream so that an append brings it back.
func deleteStream(t *testing.T, client *esdb.Client, stream string) {
	t.Helper()
	options := esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}}
	if _, err := client.DeleteStream(t.Context(), stream, options); err != nil {
		t.Fatalf("delete %s: %v", stream, err)
	}
}

// endStream ends a stream for ever.
func endStream(t *testing.T, client *esdb.Client, stream string) {
	t.Helper()
	options := esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}
	if _, err := client.TombstoneStream(t.Context(), stream, options); err != nil {
		t.Fatalf("end %s: %v", stream, err)
	}
}

// received takes events until the end of a read, or its error.
func received(in *esdb.ReadStream, err error) (list []*esdb.ResolvedEvent, _ error) {
	if err != nil {
		return nil, err
	}
	defer in.Close()
	for {
		e, err := in.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return list, err
		}
		list = append(list, e)
	}
}

// wholeLog gives what $all has, as position, revision and stream, but for the event that a node writes by itself.
func wholeLog(t *testing.T, client *esdb.Client) (list []string) {
	t.Helper()
	all, err := received(client.ReadAll(t.Context(), esdb.ReadAllOptions{}, math.MaxUint64))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all[1:] {
		list = append(list, fmt.Sprintf("%d: %d@%s", e.Event.Position.Commit, e.Event.EventNumber, e.Event.StreamID))
	}
	back, err := received(client.ReadAll(t.Context(), esdb.ReadAllOptions{
		Direction: esdb.Backwards, From: esdb.End{},
	}, math.MaxUint64))
	if err != nil || len(back) != len(all) {
		t.Fatalf("$all has %d events forwards and %d backwards, %v", len(all), len(back), err)
	}
	slices.Reverse(back)
	for i := range all {
		if all[i].Event.EventID != back[i].Event.EventID {
			t.Fatalf("event %d is another one backwards", i)
		}
	}
	return list
}

// seen gives what a reader of a stream gets: revisions, forwards as backwards, or the code of the error.
func seen(t *testing.T, client *esdb.Client, stream string) string {
	t.Helper()
	up, upErr := received(client.ReadStream(t.Context(), stream, esdb.ReadStreamOptions{}, math.MaxUint64))
	down, downErr := received(client.ReadStream(t.Context(), stream, esdb.ReadStreamOptions{
		Direction: esdb.Backwards, From: esdb.End{},
	}, math.MaxUint64))
	slices.Reverse(down)
	got := []string{"", ""}
	for i, err := range []error{upErr, downErr} {
		var e *esdb.Error
		if errors.As(err, &e) {
			got[i] = fmt.Sprint("code ", e.Code(), " ")
		} else if err != nil {
			t.Fatal(err)
		}
		for _, e := range [][]*esdb.ResolvedEvent{up, down}[i] {
			got[i] += fmt.Sprint(e.Event.EventNumber, " ")
		}
	}
	if got[0] != got[1] {
		t.Errorf("%s has %q forwards and %q backwards", stream, got[0], got[1])
	}
	return got[0]
}

// hideInEveryWay writes what has every cause for which events are hidden.
func hideInEveryWay(t *testing.T, client *esdb.Client, moved *clock.Manual) {
	t.Helper()
	for _, stream := range []string{"truncated", "counted", "beyond", "kept", "deleted", "ended", "both"} {
		mustAppend(t, client, stream, esdb.NoStream{}, several(4)...) // positions 2 to 29
	}
	for _, stream := range []string{"aged", "expired"} {
		mustAppend(t, client, stream, esdb.NoStream{}, several(2)...) // 30 to 33
	}
	moved.Advance(2 * time.Hour)
	mustAppend(t, client, "aged", esdb.Revision(1), several(2)...)                              // 34, 35
	setMeta(t, client, "truncated", func(m *esdb.StreamMetadata) { m.SetTruncateBefore(3) })    // 36
	setMeta(t, client, "counted", func(m *esdb.StreamMetadata) { m.SetMaxCount(3) })            // 37
	setMeta(t, client, "counted", func(m *esdb.StreamMetadata) { m.SetMaxCount(2) })            // 38
	setMeta(t, client, "beyond", func(m *esdb.StreamMetadata) { m.SetTruncateBefore(9) })       // 39
	setMeta(t, client, "kept", func(m *esdb.StreamMetadata) { m.SetMaxCount(9) })               // 40
	setMeta(t, client, "aged", func(m *esdb.StreamMetadata) { m.SetMaxAge(time.Hour) })         // 41
	setMeta(t, client, "expired", func(m *esdb.StreamMetadata) { m.SetMaxAge(time.Hour) })      // 42
	setMeta(t, client, "unwritten", func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })          // 43
	setMeta(t, client, "$$kept", func(m *esdb.StreamMetadata) { m.SetTruncateBefore(9) })       // 44
	setMeta(t, client, "ended", func(m *esdb.StreamMetadata) { m.AddCustomProperty("a", "b") }) // 45
	setMeta(t, client, "ended", func(m *esdb.StreamMetadata) { m.AddCustomProperty("a", "c") }) // 46
	setMeta(t, client, "both", func(m *esdb.StreamMetadata) { m.SetMaxCount(3); m.SetTruncateBefore(2) })
	deleteStream(t, client, "deleted") // 48
	endStream(t, client, "ended")      // 49
	endStream(t, client, "never")      // 50
	mustAppend(t, client, "after", esdb.NoStream{}, oneEvent())
}

// TestScavenge_RemovesWhatNobodySeesAndNothingElse: each cause for which events are hidden, and what stays of each.
// Readers of streams see the same as before, and $all has no more than what is listed, at the positions of before.
func TestScavenge_RemovesWhatNobodySeesAndNothingElse(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	moved := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	cfg.Clock = moved
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	hideInEveryWay(t, client, moved)
	before := map[string]string{}
	for _, at := range []string{"truncated", "counted", "beyond", "kept", "deleted", "ended", "both", "aged", "expired",
		"unwritten", "never", "after", "$$counted", "$$ended", "$$deleted", "$$kept"} {
		before[at] = seen(t, client, at)
	}
	want := []string{
		"5: 3@truncated", "8: 2@counted", "9: 3@counted", "13: 3@beyond", "14: 0@kept", "15: 1@kept", "16: 2@kept",
		"17: 3@kept", "21: 3@deleted", "28: 2@both", "29: 3@both", "33: 1@expired", "34: 2@aged", "35: 3@aged",
		"36: 0@$$truncated", "38: 1@$$counted", "39: 0@$$beyond", "40: 0@$$kept", "41: 0@$$aged", "42: 0@$$expired",
		"43: 0@$$unwritten", "44: 0@$$$$kept", "46: 1@$$ended", "47: 0@$$both", "48: 0@$$deleted",
		"49: 9223372036854775807@ended", "50: 9223372036854775807@never", "51: 0@after",
	}
	check := func(when string) {
		t.Helper()
		if diff := cmp.Diff(want, wholeLog(t, client)); diff != "" {
			t.Errorf("%s, $all (-want +got):\n%s", when, diff)
		}
		for at, revisions := range before {
			if got := seen(t, client, at); got != revisions {
				t.Errorf("%s, %s: %q, before %q", when, at, got, revisions)
			}
		}
	}
	for _, when := range []string{"after a pass", "after another one"} {
		scavenge(t, n)
		check(when)
	}
	// 20 events of two bytes, and two of metadata.
	if got := n.Scavenged(); got.Events != 50-int64(len(want)) || got.Bytes <= 2*got.Events {
		t.Errorf("counted %+v", got)
	}
	_ = client.Close()
	stop(t, n)
	n = start(t, cfg)
	client = contract.Connect(t, n.URL())
	check("after a restart")
	if r := mustAppend(t, client, "expired", esdb.Revision(1), oneEvent()); r.CommitPosition != 52 {
		t.Errorf("the log goes on at %d", r.CommitPosition)
	}
}

// TestScavenge_LinksToWhatIsGoneAreNotResolved, and are no error.
func TestScavenge_LinksToWhatIsGoneAreNotResolved(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	client := contract.Connect(t, n.URL())
	fourOfWhichOneIsSeen(t, client, "s")
	for i := range 4 {
		link := oneEvent()
		link.EventType, link.ContentType, link.Data = "$>", esdb.ContentTypeBinary, fmt.Appendf(nil, "%d@s", i)
		mustAppend(t, client, "links", esdb.Any{}, link)
	}
	scavenge(t, n)
	links, err := received(client.ReadStream(t.Context(), "links", esdb.ReadStreamOptions{ResolveLinkTos: true}, 9))
	if err != nil || len(links) != 4 {
		t.Fatalf("%d links, %v", len(links), err)
	}
	for i, link := range links {
		if link.Link == nil || (link.Event != nil) != (i == 3) {
			t.Errorf("link %d leads to %v", i, link.Event)
		}
	}
}

// TestScavenge_WhatIsGoneIsDecidedAnew: revisions go on, a limit that is raised shows what is still there, and repeats
// do not find what is gone.
func TestScavenge_WhatIsGoneIsDecidedAnew(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	first, third, loose := oneEvent(), oneEvent(), oneEvent()
	mustAppend(t, client, "counted", esdb.NoStream{}, first, oneEvent())
	mustAppend(t, client, "counted", esdb.Revision(1), third, oneEvent())
	once := mustAppend(t, client, "loose", esdb.Any{}, loose)
	mustAppend(t, client, "loose", esdb.Any{}, oneEvent())
	mustAppend(t, client, "deleted", esdb.NoStream{}, several(3)...)
	for _, stream := range []string{"counted", "loose"} {
		setMeta(t, client, stream, func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })
	}
	deleteStream(t, client, "deleted")
	scavenge(t, n)

	for name, again := range map[string]struct {
		event    esdb.EventData
		expected esdb.ExpectedRevision
	}{"the first": {first, esdb.NoStream{}}, "the third": {third, esdb.Revision(1)}} {
		_, err := client.AppendToStream(t.Context(), "counted",
			esdb.AppendToStreamOptions{ExpectedRevision: again.expected}, again.event)
		if wantCode(t, err, esdb.ErrorCodeWrongExpectedVersion); t.Failed() {
			t.Fatalf("a repeat of %s", name)
		}
	}
	if again := mustAppend(t, client, "loose", esdb.Any{}, loose); *again != *once {
		t.Errorf("a repeat that the node remembers: %+v, the original %+v", again, once)
	}
	setMeta(t, client, "counted", func(m *esdb.StreamMetadata) { m.SetMaxCount(9) })
	if got := seen(t, client, "counted"); got != "3 " {
		t.Errorf("a raised limit shows %q", got)
	}
	mustAppend(t, client, "counted", esdb.Revision(3), oneEvent())
	if got := seen(t, client, "counted"); got != "3 4 " {
		t.Errorf("the stream goes on as %q", got)
	}
	if r := mustAppend(t, client, "deleted", esdb.NoStream{}, oneEvent()); r.NextExpectedVersion != 3 {
		t.Errorf("the deleted stream comes back at %d", r.NextExpectedVersion)
	}
	scavenge(t, n)
	if got := seen(t, client, "deleted"); got != "3 " {
		t.Errorf("the stream that came back has %q", got)
	}
	_ = client.Close()
	stop(t, n)
	client = contract.Connect(t, start(t, cfg).URL())
	if again := mustAppend(t, client, "loose", esdb.Any{}, loose); again.NextExpectedVersion != 2 {
		t.Errorf("a repeat that nobody remembers: %+v", again)
	}
}

// TestScavenge_OfManyStreams: more than one look finds, of both kinds, and a stream with more than one transaction
// removes.
func TestScavenge_OfManyStreams(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	const streams = 600
	run(t, cfg, fmt.Sprintf(`insert into {schema}.streams
		select n + 10, case when n <= %[1]d then '$$counted-' || n when n <= 2*%[1]d then 'counted-' || n - %[1]d
			else 'ended-' || n end
		from generate_series(1, 3*%[1]d) n`, streams),
		fmt.Sprintf(`insert into {schema}.events
		select position, stream, revision,
			{schema}.event_record(position, stream, revision, gen_random_uuid(), 'e', true, 0, '', data)
		from generate_series(1, 3*%[1]d) n, generate_series(1, 3) r, lateral (select 100 * n + r, n + 10,
			case when r = 3 and n > 2*%[1]d then 9223372036854775807 else r end,
			case when n <= %[1]d then '{"$maxCount":2}' else '' end::bytea
		) e (position, stream, revision, data)`, streams))
	long := fmt.Sprintf(`insert into {schema}.events
		select 1000000 + r, 11 + %[1]d, r,
			{schema}.event_record(1000000 + r, 11 + %[1]d, r, gen_random_uuid(), 'e', true, 0, '', '')
		from generate_series(4, 1503) r`, streams)
	run(t, cfg, long)
	transactions := 0
	if err := embedded.Scavenge(t.Context(), n, func() { transactions++ }); err != nil {
		t.Fatal(err)
	}
	// Two of each metastream, one of each counted stream and two of each ended one, and the long one in three parts at
	// least.
	if got := n.Scavenged(); got.Events != 5*streams+1500 || got.Streams != 3*streams || transactions < 3*streams+2 {
		t.Errorf("removed %+v in %d transactions", got, transactions)
	}
	var rows, last int
	query(t, cfg, `select count(*), count(*) filter (where revision = 9223372036854775807) from {schema}.events`, &rows,
		&last)
	if rows != 1+streams+2*streams+streams || last != streams {
		t.Errorf("%d rows are left, %d of them tombstones", rows, last)
	}
}

// TestScavenge_LargeEventsGoFewAtATime, since appends wait for the end of each transaction.
func TestScavenge_LargeEventsGoFewAtATime(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.MaxAppendSize = 8 << 20
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	large := oneEvent()
	large.ContentType, large.Data = esdb.ContentTypeBinary, make([]byte, 3<<20)
	record := int64(embedded.StoredType + len(large.EventType) + len(large.Metadata) + len(large.Data))
	for range 5 {
		large.EventID = uuid.New()
		mustAppend(t, client, "large", esdb.Any{}, large)
	}
	deleteStream(t, client, "large")
	transactions := 0
	if err := embedded.Scavenge(t.Context(), n, func() { transactions++ }); err != nil {
		t.Fatal(err)
	}
	if got := n.Scavenged(); got.Events != 4 || got.Bytes != 4*record || transactions != 2 {
		t.Errorf("removed %+v in %d transactions", got, transactions)
	}
}
