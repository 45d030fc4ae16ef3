package contract

import (
	"context"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// appendHeader is the first message of an append that expects any revision.
func appendHeader(stream string) *streams.AppendReq {
	return &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{
		StreamIdentifier:       &shared.StreamIdentifier{StreamName: []byte(stream)},
		ExpectedStreamRevision: &streams.AppendReq_Options_Any{Any: &shared.Empty{}},
	}}}
}

// proposed makes a valid event message, which a test may spoil.
func proposed() *streams.AppendReq_ProposedMessage {
	return &streams.AppendReq_ProposedMessage{
		Id:       &shared.UUID{Value: &shared.UUID_String_{String_: uuid.NewString()}},
		Metadata: map[string]string{"type": "t", "content-type": "application/json"},
		Data:     []byte(`{}`),
	}
}

// rawAppend sends the messages unchanged and returns the response, the trailers and the error.
func (k *kit) rawAppend(
	ctx context.Context, t *testing.T, messages ...*streams.AppendReq,
) (*streams.AppendResp, metadata.MD, error) {
	t.Helper()
	var trailer metadata.MD
	call, err := k.raw.Append(ctx, grpc.Trailer(&trailer))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := call.Send(m); err != nil {
			t.Fatalf("the server ended the call before it had read the request: %v", err)
		}
	}
	resp, err := call.CloseAndRecv()
	return resp, trailer, err
}

// wantTrailers checks a status and the named trailers; nil checks the status only.
func wantTrailers(t *testing.T, err error, code codes.Code, trailer metadata.MD, want map[string]string) {
	t.Helper()
	if status.Code(err) != code {
		t.Errorf("got status %v, want %v", err, code)
	}
	if want == nil {
		return
	}
	got := map[string]string{}
	for name := range want {
		if values := trailer.Get(name); len(values) == 1 {
			got[name] = values[0]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
}

// testAppendLimits covers the limits of an append, and the answers when they are exceeded.
func testAppendLimits(t *testing.T, k *kit) {
	t.Run("malformed events", func(t *testing.T) { t.Parallel(); appendMalformed(t, k) })
	t.Run("too large is told after the whole request was read", func(t *testing.T) {
		t.Parallel()
		s := stream("limits")
		request := []*streams.AppendReq{appendHeader(s)}
		for range 12 {
			m := proposed()
			m.Data = make([]byte, 512<<10)
			request = append(request, message(m))
		}
		_, trailer, err := k.rawAppend(within(t), t, request...)
		wantTrailers(t, err, codes.InvalidArgument, trailer, map[string]string{
			"exception": "maximum-append-size-exceeded", "maximum-append-size": "1048576",
		})
	})
	t.Run("far too large is told as well", func(t *testing.T) { t.Parallel(); appendFarTooLarge(t, k) })
	t.Run("message over 4 MiB arrives", func(t *testing.T) {
		t.Parallel()
		m := proposed()
		m.Data = make([]byte, 5<<20)
		_, trailer, err := k.rawAppend(within(t), t, appendHeader(stream("limits")), message(m))
		wantTrailers(t, err, codes.InvalidArgument, trailer, map[string]string{
			"exception": "maximum-append-size-exceeded",
		})
	})
	t.Run("exactly the limit is stored", func(t *testing.T) {
		t.Parallel()
		e := event("large")
		e.Data = make([]byte, 1<<20)
		s := stream("limits")
		k.append(t, s, esdb.NoStream{}, e)
		got, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		if err != nil || len(got) != 1 || len(got[0].Event.Data) != 1<<20 {
			t.Fatalf("got %d events, %v", len(got), err)
		}
	})
	t.Run("string and structured ids are the same id", func(t *testing.T) {
		t.Parallel()
		m, s := proposed(), stream("limits")
		if _, _, err := k.rawAppend(within(t), t, appendHeader(s), message(m)); err != nil {
			t.Fatal(err)
		}
		got, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		if err != nil || got[0].Event.EventID.String() != m.GetId().GetString_() {
			t.Fatalf("got %v, %v", got, err)
		}
	})
}

// message wraps an event for the append call.
func message(m *streams.AppendReq_ProposedMessage) *streams.AppendReq {
	return &streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: m}}
}

// appendFarTooLarge: the request goes on for long after the server has found its fault.
func appendFarTooLarge(t *testing.T, k *kit) {
	m := proposed()
	m.Data = make([]byte, 1<<20)
	request := []*streams.AppendReq{appendHeader(stream("limits"))}
	for range 80 {
		request = append(request, message(m))
	}
	_, trailer, err := k.rawAppend(within(t), t, request...)
	wantTrailers(t, err, codes.InvalidArgument, trailer, map[string]string{
		"exception": "maximum-append-size-exceeded",
	})
}

// appendMalformed: one malformed event makes the server refuse the whole append.
func appendMalformed(t *testing.T, k *kit) {
	spoiled := func(spoil func(*streams.AppendReq_ProposedMessage)) *streams.AppendReq {
		m := proposed()
		spoil(m)
		return message(m)
	}
	missing := map[string]string{
		"exception": "missing-required-metadata-property", "required-metadata-properties": "type,content-type",
	}
	for _, c := range []struct {
		name string
		m    *streams.AppendReq
		want map[string]string
	}{
		{"no type", spoiled(func(m *streams.AppendReq_ProposedMessage) { delete(m.Metadata, "type") }), missing},
		{
			"no content type",
			spoiled(func(m *streams.AppendReq_ProposedMessage) { delete(m.Metadata, "content-type") }), missing,
		},
		{"empty type", spoiled(func(m *streams.AppendReq_ProposedMessage) { m.Metadata["type"] = "" }), nil},
		{"empty id", spoiled(func(m *streams.AppendReq_ProposedMessage) {
			m.Id = &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{}}}
		}), nil},
		{"malformed id", spoiled(func(m *streams.AppendReq_ProposedMessage) {
			m.Id = &shared.UUID{Value: &shared.UUID_String_{String_: "no"}}
		}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := stream("limits")
			_, trailer, err := k.rawAppend(within(t), t, appendHeader(s), message(proposed()), c.m, message(proposed()))
			wantTrailers(t, err, codes.InvalidArgument, trailer, c.want)
			_, err = k.read(t, s, esdb.ReadStreamOptions{}, 1)
			wantCode(t, err, esdb.ErrorCodeResourceNotFound) // all or nothing
		})
	}
}
