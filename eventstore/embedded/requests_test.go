package embedded

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// FuzzParseRead: bytes that decode to a read are either accepted with values in range or refused.
func FuzzParseRead(f *testing.F) {
	for _, o := range []*streams.ReadReq_Options{
		{
			StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{
				AllOption: &streams.ReadReq_Options_AllOptions_Position{
					Position: &streams.ReadReq_Options_Position{CommitPosition: 1 << 63},
				},
			}},
			CountOption: &streams.ReadReq_Options_Subscription{},
			FilterOption: &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
				Filter: &streams.ReadReq_Options_FilterOptions_EventType{
					EventType: &streams.ReadReq_Options_FilterOptions_Expression{Regex: "^[^$]"},
				},
				Window: &streams.ReadReq_Options_FilterOptions_Max{Max: 1}, CheckpointIntervalMultiplier: 1,
			}},
			UuidOption: &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{}},
		},
		{
			StreamOption: &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
				StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte("s")},
				RevisionOption:   &streams.ReadReq_Options_StreamOptions_Revision{Revision: 1<<64 - 1},
			}},
			CountOption:  &streams.ReadReq_Options_Count{Count: 1<<64 - 1},
			FilterOption: &streams.ReadReq_Options_NoFilter{},
			UuidOption: &streams.ReadReq_Options_UUIDOption{
				Content: &streams.ReadReq_Options_UUIDOption_Structured{},
			},
		},
	} {
		seed, err := proto.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		o := &streams.ReadReq_Options{}
		if proto.Unmarshal(encoded, o) != nil {
			return
		}
		r, err := parseRead(o)
		if err != nil {
			return
		}
		if r.place < 0 || r.stream == "" || r.subscribe && r.backwards || r.filter != nil && r.stream != allStream {
			t.Errorf("%v was understood as %+v", o, r)
		}
	})
}

// FuzzProposals: a proposed message is either stored completely or refused completely.
func FuzzProposals(f *testing.F) {
	seed, err := proto.Marshal(&streams.AppendReq_ProposedMessage{
		Id:       &shared.UUID{Value: &shared.UUID_String_{String_: "5f9c2f10-3f24-4bb1-9a0c-5e5a8b0b8a11"}},
		Metadata: map[string]string{"type": "t", "content-type": "c"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, encoded []byte) {
		m := &streams.AppendReq_ProposedMessage{}
		if proto.Unmarshal(encoded, m) != nil {
			return
		}
		p := proposals{limit: 1000}
		p.add(m)
		if (p.fault == nil) != (len(p.events) == 1) {
			t.Errorf("fault %v with %d events", p.fault, len(p.events))
		}
		if p.fault == nil && (p.events[0].kind == "" || !storable(p.events[0].kind) ||
			len(p.events[0].data) > p.limit) {
			t.Errorf("stored %+v", p.events[0])
		}
	})
}

// TestGuard_OnlyTheRightCredentialsPass has the forms of the header that clients send, and malformed ones.
func TestGuard_OnlyTheRightCredentialsPass(t *testing.T) {
	t.Parallel()
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for header, want := range map[string]bool{
		"Basic " + encode("admin:pass:word"):  true,
		"basic " + encode("admin:pass:word"):  true,
		"Basic " + encode("admin:password"):   false,
		"Basic " + encode("Admin:pass:word"):  false,
		"Basic " + encode("admin:"):           false,
		"Basic not base64":                    false,
		"Basic":                               false,
		"Bearer " + encode("admin:pass:word"): false,
		"":                                    false,
	} {
		ctx := metadata.NewIncomingContext(context.Background(), metadata.Pairs("authorization", header))
		g := newGuard("admin", "pass:word")
		if got := g.check(ctx, "/event_store.client.streams.Streams/Read") == nil; got != want {
			t.Errorf("%q passes: %t", header, got)
		}
		if g.check(ctx, "/event_store.client.gossip.Gossip/Read") != nil || newGuard("", "").check(ctx, "/x") != nil {
			t.Errorf("%q: an open call was refused", header)
		}
	}
	if newGuard("admin", "x").check(context.Background(), "/x") == nil {
		t.Error("no header passes")
	}
}
