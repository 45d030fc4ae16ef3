package contract

import (
	"math"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// testReadStream covers plain reads of one stream, in both directions, from every kind of place.
func testReadStream(t *testing.T, k *kit) {
	s := stream("read")
	k.append(t, s, esdb.NoStream{}, events("a", "b", "c", "d", "e")...)
	back, on := esdb.Backwards, esdb.Forwards
	for _, c := range []struct {
		name  string
		dir   esdb.Direction
		from  esdb.StreamPosition
		count uint64
		want  []uint64
	}{
		{"forwards from the start", on, esdb.Start{}, 10, []uint64{0, 1, 2, 3, 4}},
		{"forwards, some", on, esdb.Start{}, 2, []uint64{0, 1}},
		{"forwards from a revision, inclusive", on, esdb.Revision(3), 10, []uint64{3, 4}},
		{"forwards from beyond the end", on, esdb.Revision(9), 10, []uint64{}},
		{"forwards, as many as can be said", on, esdb.Start{}, math.MaxUint64, []uint64{0, 1, 2, 3, 4}},
		{"forwards from the end", on, esdb.End{}, 10, []uint64{}},
		{"backwards from the end, last included", back, esdb.End{}, 2, []uint64{4, 3}},
		{"backwards from a revision, inclusive", back, esdb.Revision(2), 10, []uint64{2, 1, 0}},
		{"backwards from beyond the end, clamped", back, esdb.Revision(99), 2, []uint64{4, 3}},
		{"none", on, esdb.Start{}, 0, []uint64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := k.read(t, s, esdb.ReadStreamOptions{Direction: c.dir, From: c.from}, c.count)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, revisions(got)); diff != "" {
				t.Errorf("revisions (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("many pages", func(t *testing.T) { t.Parallel(); readManyPages(t, k) })
	t.Run("missing stream", func(t *testing.T) {
		t.Parallel()
		_, err := k.read(t, stream("read"), esdb.ReadStreamOptions{}, 1)
		wantCode(t, err, esdb.ErrorCodeResourceNotFound)
	})
	t.Run("large events", func(t *testing.T) { t.Parallel(); readLargeEvents(t, k) })
}

// readManyPages: a stream longer than any page, both ways.
func readManyPages(t *testing.T, k *kit) {
	const n = 3000
	s := stream("read")
	for range n / 500 {
		given := make([]esdb.EventData, 500)
		for i := range given {
			given[i] = event("many")
		}
		k.append(t, s, esdb.Any{}, given...)
	}
	for _, dir := range []esdb.Direction{esdb.Forwards, esdb.Backwards} {
		var from esdb.StreamPosition = esdb.Start{}
		if dir == esdb.Backwards {
			from = esdb.End{}
		}
		got, err := k.read(t, s, esdb.ReadStreamOptions{Direction: dir, From: from}, math.MaxUint64)
		if err != nil || len(got) != n {
			t.Fatalf("got %d events, %v", len(got), err)
		}
		for i, e := range got {
			want := uint64(i)
			if dir == esdb.Backwards {
				want = n - 1 - want
			}
			if e.OriginalEvent().EventNumber != want {
				t.Fatalf("event %d is number %d", i, e.OriginalEvent().EventNumber)
			}
		}
	}
}

// readLargeEvents: pages are bounded in bytes too, and nothing is lost at their edges.
func readLargeEvents(t *testing.T, k *kit) {
	s := stream("read")
	want := []uint64{}
	for i := range 24 {
		e := event("large")
		e.Data = make([]byte, 700<<10)
		k.append(t, s, esdb.Any{}, e)
		want = append(want, uint64(i))
	}
	k.wantRevisions(t, s, want...)
}

// testReadAll covers plain reads of $all.
func testReadAll(t *testing.T, k *kit) {
	s := stream("readall")
	var at []uint64
	for range 4 {
		at = append(at, k.append(t, s, esdb.Any{}, event("a")).CommitPosition)
	}
	position := func(p uint64) esdb.Position { return esdb.Position{Commit: p, Prepare: p} }
	t.Run("forwards from a position, inclusive", func(t *testing.T) {
		t.Parallel()
		got := k.readAll(t, esdb.ReadAllOptions{From: position(at[1])}, 1)
		if len(got) != 1 || got[0].Event.Position.Commit != at[1] {
			t.Errorf("got %v", got)
		}
	})
	t.Run("backwards from a position, exclusive", func(t *testing.T) {
		t.Parallel()
		got := k.readAll(t, esdb.ReadAllOptions{Direction: esdb.Backwards, From: position(at[1])}, 1)
		if len(got) != 1 || got[0].Event.Position.Commit >= at[1] || got[0].Event.Position.Commit < at[0] {
			t.Errorf("got %v", got)
		}
	})
	t.Run("in order, without gaps in what was acknowledged", func(t *testing.T) {
		t.Parallel()
		got := k.readAll(t, esdb.ReadAllOptions{From: position(at[0])}, math.MaxUint64)
		seen, last := 0, uint64(0)
		for _, e := range got {
			if e.Event.Position.Commit <= last {
				t.Fatalf("position %d after %d", e.Event.Position.Commit, last)
			}
			last = e.Event.Position.Commit
			if e.Event.StreamID == s {
				seen++
			}
		}
		if seen != 4 {
			t.Errorf("saw %d of 4", seen)
		}
	})
	t.Run("ends", func(t *testing.T) {
		t.Parallel()
		if got := k.readAll(t, esdb.ReadAllOptions{From: esdb.Start{}}, 1); len(got) != 1 || got[0].Event.Position.Commit == 0 {
			t.Errorf("first event: %v", got)
		}
		if got := k.readAll(t, esdb.ReadAllOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1); len(got) != 1 || got[0].Event.Position.Commit < at[3] {
			t.Errorf("last event: %v", got)
		}
		if got := k.readAll(t, esdb.ReadAllOptions{From: esdb.End{}}, 1); len(got) != 0 {
			t.Errorf("after the end: %v", got)
		}
	})
	t.Run("first user event of a server", func(t *testing.T) {
		t.Parallel()
		got, err := k.read(t, "$users", esdb.ReadStreamOptions{}, 1)
		if err != nil || got[0].Event.EventType != "$User" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// readOptions is a valid raw read of a stream, to be changed by the test.
func readOptions(s string) *streams.ReadReq_Options {
	return &streams.ReadReq_Options{
		StreamOption: &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(s)},
			RevisionOption:   &streams.ReadReq_Options_StreamOptions_Start{Start: &shared.Empty{}},
		}},
		CountOption:  &streams.ReadReq_Options_Count{Count: 10},
		FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		UuidOption:   &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}},
	}
}

// allFrom is the $all variant from a raw position.
func allFrom(commit, prepare uint64) *streams.ReadReq_Options_All {
	return &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Position{
		Position: &streams.ReadReq_Options_Position{CommitPosition: commit, PreparePosition: prepare},
	}}}
}

// rawRead collects the raw responses.
func (k *kit) rawRead(t *testing.T, o *streams.ReadReq_Options) ([]*streams.ReadResp, error) {
	t.Helper()
	call, err := k.raw.Read(within(t), &streams.ReadReq{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	var out []*streams.ReadResp
	for {
		resp, err := call.Recv()
		if err != nil {
			if err.Error() == "EOF" {
				err = nil
			}
			return out, err
		}
		out = append(out, resp)
	}
}

// testReadRequests covers what the stock Go client never sends: refused combinations, string ids and the newer clients' bounds.
func testReadRequests(t *testing.T, k *kit) {
	s := stream("requests")
	k.append(t, s, esdb.NoStream{}, events("a", "b", "c")...)
	filter := func(regex string, multiplier uint32) *streams.ReadReq_Options_Filter {
		return &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
			Filter: &streams.ReadReq_Options_FilterOptions_EventType{
				EventType: &streams.ReadReq_Options_FilterOptions_Expression{Regex: regex},
			},
			Window:                       &streams.ReadReq_Options_FilterOptions_Max{Max: 32},
			CheckpointIntervalMultiplier: multiplier,
		}}
	}
	subscription := &streams.ReadReq_Options_Subscription{Subscription: &streams.ReadReq_Options_SubscriptionOptions{}}
	for name, spoil := range map[string]func(*streams.ReadReq_Options){
		"no id form":             func(o *streams.ReadReq_Options) { o.UuidOption = nil },
		"no stream":              func(o *streams.ReadReq_Options) { o.StreamOption = nil },
		"no filter option":       func(o *streams.ReadReq_Options) { o.FilterOption = nil },
		"no count":               func(o *streams.ReadReq_Options) { o.CountOption = nil },
		"filtered stream":        func(o *streams.ReadReq_Options) { o.FilterOption = filter("a", 1) },
		"prepare after commit":   func(o *streams.ReadReq_Options) { o.StreamOption = allFrom(1, 2) },
		"look-ahead in a regex":  func(o *streams.ReadReq_Options) { o.StreamOption, o.FilterOption = allFrom(1, 1), filter("(?=a)", 1) },
		"backwards subscription": func(o *streams.ReadReq_Options) { o.CountOption, o.ReadDirection = subscription, 1 },
		"checkpoints every 0 windows": func(o *streams.ReadReq_Options) {
			o.StreamOption, o.FilterOption, o.CountOption = allFrom(1, 1), filter("a", 0), subscription
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := readOptions(s)
			spoil(o)
			if _, err := k.rawRead(t, o); status.Code(err) != codes.InvalidArgument {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("string ids, without bounds unless asked for", func(t *testing.T) {
		t.Parallel()
		got, err := k.rawRead(t, readOptions(s))
		if err != nil || len(got) != 3 || len(got[0].GetEvent().GetEvent().GetId().GetString_()) != 36 {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("bounds for newer clients", func(t *testing.T) { t.Parallel(); readBounds(t, k) })
	t.Run("filtered plain read", func(t *testing.T) {
		t.Parallel()
		other := stream("requests")
		from := k.append(t, other, esdb.NoStream{}, event("before")).CommitPosition
		k.append(t, other, esdb.Any{}, event("needle-"+s), event("hay"), event("needle-"+s))
		o := readOptions(s)
		o.StreamOption, o.FilterOption = allFrom(from, from), filter("needle-"+s, 1)
		got, err := k.rawRead(t, o)
		if err != nil || len(got) != 2 {
			t.Errorf("got %d events, %v", len(got), err)
		}
	})
}

// readBounds: compatibility 1 asks for the stream's first and last position.
func readBounds(t *testing.T, k *kit) {
	s := stream("requests")
	k.append(t, s, esdb.NoStream{}, events("a", "b", "c")...)
	o := readOptions(s)
	o.ControlOption = &streams.ReadReq_Options_ControlOption{Compatibility: 1}
	got, err := k.rawRead(t, o)
	if err != nil || len(got) != 4 || got[3].GetLastStreamPosition() != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	m := esdb.StreamMetadata{}
	m.SetTruncateBefore(3)
	if _, err := k.client.SetStreamMetadata(within(t), s, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, m); err != nil {
		t.Fatal(err)
	}
	got, err = k.rawRead(t, o)
	if err != nil || len(got) != 2 || got[0].GetFirstStreamPosition() != 3 || got[1].GetLastStreamPosition() != 2 {
		t.Errorf("truncated: got %v, %v", got, err)
	}
}

// testLinks covers link events, resolved and not.
func testLinks(t *testing.T, k *kit) {
	link := func(data string) esdb.EventData {
		e := event("$>")
		e.ContentType, e.Data = esdb.ContentTypeBinary, []byte(data)
		return e
	}
	target, s := stream("target"), stream("links")
	k.append(t, target, esdb.NoStream{}, events("a", "b")...)
	gone := stream("target")
	k.append(t, gone, esdb.NoStream{}, event("c"))
	if _, err := k.client.DeleteStream(within(t), gone, esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	k.append(t, s, esdb.NoStream{}, link("1@"+target), event("plain"), link("9@"+target), link("0@"+gone), link("nonsense"))
	t.Run("resolved", func(t *testing.T) {
		t.Parallel()
		got, err := k.read(t, s, esdb.ReadStreamOptions{ResolveLinkTos: true}, 10)
		if err != nil || len(got) != 5 {
			t.Fatalf("got %d events, %v", len(got), err)
		}
		if e := got[0]; e.Event == nil || e.Event.StreamID != target || e.Event.EventNumber != 1 || e.Link == nil || e.Link.StreamID != s ||
			e.OriginalEvent().EventNumber != 0 || *e.Commit != e.Link.Position.Commit {
			t.Errorf("link: %+v", e)
		}
		if e := got[1]; e.Link != nil || e.Event.EventType != "plain" {
			t.Errorf("plain event: %+v", e)
		}
		for _, e := range got[2:] {
			if e.Event != nil || e.Link == nil {
				t.Errorf("link to nothing: %+v", e)
			}
		}
	})
	t.Run("not resolved", func(t *testing.T) {
		t.Parallel()
		got, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		if err != nil || got[0].Link != nil || got[0].Event.EventType != "$>" {
			t.Errorf("got %+v, %v", got[0], err)
		}
	})
	t.Run("in a subscription", func(t *testing.T) {
		t.Parallel()
		sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Start{}, ResolveLinkTos: true})
		if e := sub.event(t); e.Event == nil || e.Event.StreamID != target || e.Link == nil {
			t.Errorf("history: %+v", e)
		}
		for range 4 {
			sub.event(t)
		}
		sub.caughtUp(t)
		k.append(t, s, esdb.Any{}, link("0@"+target))
		if e := sub.event(t); e.Event == nil || e.Event.EventNumber != 0 || e.Link == nil {
			t.Errorf("live: %+v", e)
		}
	})
}
