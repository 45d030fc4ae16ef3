package contract

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// readOptions makes a valid raw read of a stream, which a test may change.
func readOptions(s string) *streams.ReadReq_Options {
	return &streams.ReadReq_Options{
		StreamOption: &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(s)},
			RevisionOption:   &streams.ReadReq_Options_StreamOptions_Start{Start: &shared.Empty{}},
		}},
		CountOption:  &streams.ReadReq_Options_Count{Count: 10},
		FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		UuidOption: &streams.ReadReq_Options_UUIDOption{
			Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}},
		},
	}
}

// allFrom makes the option to read $all from a position.
func allFrom(commit, prepare uint64) *streams.ReadReq_Options_All {
	return &streams.ReadReq_Options_All{
		All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Position{
			Position: &streams.ReadReq_Options_Position{CommitPosition: commit, PreparePosition: prepare},
		}},
	}
}

// rawRead collects the responses as the server sent them.
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

// testReadRequests covers reads that the stock Go client never sends: refused combinations, string ids, and the bounds
// that newer clients ask for.
func testReadRequests(t *testing.T, k *kit) {
	s := stream("requests")
	k.append(t, s, esdb.NoStream{}, several("a", "b", "c")...)
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
		"no id form":           func(o *streams.ReadReq_Options) { o.UuidOption = nil },
		"no stream":            func(o *streams.ReadReq_Options) { o.StreamOption = nil },
		"no filter option":     func(o *streams.ReadReq_Options) { o.FilterOption = nil },
		"no count":             func(o *streams.ReadReq_Options) { o.CountOption = nil },
		"filtered stream":      func(o *streams.ReadReq_Options) { o.FilterOption = filter("a", 1) },
		"prepare after commit": func(o *streams.ReadReq_Options) { o.StreamOption = allFrom(1, 2) },
		"look-ahead in a regex": func(o *streams.ReadReq_Options) {
			o.StreamOption, o.FilterOption = allFrom(1, 1),
				filter("(?=a)", 1)
		},
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

// readBounds: with compatibility 1 a client asks for the stream's first and last position.
func readBounds(t *testing.T, k *kit) {
	s := stream("requests")
	k.append(t, s, esdb.NoStream{}, several("a", "b", "c")...)
	o := readOptions(s)
	o.ControlOption = &streams.ReadReq_Options_ControlOption{Compatibility: 1}
	got, err := k.rawRead(t, o)
	if err != nil || len(got) != 4 || got[3].GetLastStreamPosition() != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	m := esdb.StreamMetadata{}
	m.SetTruncateBefore(3)
	if _, err := k.client.SetStreamMetadata(within(t), s, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}},
		m); err != nil {
		t.Fatal(err)
	}
	got, err = k.rawRead(t, o)
	if err != nil || len(got) != 2 || got[0].GetFirstStreamPosition() != 3 || got[1].GetLastStreamPosition() != 2 {
		t.Errorf("truncated: got %v, %v", got, err)
	}
}
