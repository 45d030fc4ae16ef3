package embedded_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
)

// TestRevival_ItsCallerIsGoneAfterTheComparison: an append that would bring a deleted stream back is not committed when
// its deadline has passed while it was compared with the log.
func TestRevival_ItsCallerIsGoneAfterTheComparison(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	call := contract.OpenBatchCall(t, n.URL())
	mustAppend(t, client, "s", esdb.NoStream{}, oneEvent())
	deleteStream(t, client, "s")
	table, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Rollback(context.Background()) }()
	lock := inSchema(cfg, `lock table {schema}.events in access exclusive mode`)
	if _, err := table.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	late := contract.BatchRequest("s", 1)
	late.Options.DeadlineOption = &streams.BatchAppendReq_Options_Deadline{
		Deadline: durationpb.New(200 * time.Millisecond),
	}
	if err := call.Send(late); err != nil {
		t.Fatal(err)
	}
	resp, err := call.Recv()
	if err != nil || codes.Code(resp.GetError().GetCode()) != codes.DeadlineExceeded {
		t.Fatalf("got %v, %v", resp, err)
	}
	if err := table.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, client, "other", esdb.NoStream{}, oneEvent())
	r, err := client.ReadStream(t.Context(), "s", esdb.ReadStreamOptions{}, 1)
	if err == nil {
		defer r.Close()
		_, err = r.Recv()
	}
	wantCode(t, err, esdb.ErrorCodeResourceNotFound)
}

// TestRevival_ManyAtOnceShareACommit: each of them is compared with the log, and they do not wait for each other's
// commits.
func TestRevival_ManyAtOnceShareACommit(t *testing.T) {
	t.Parallel()
	const many = 100
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	for i := range many {
		mustAppend(t, client, fmt.Sprint("s-", i), esdb.NoStream{}, oneEvent())
		deleteStream(t, client, fmt.Sprint("s-", i))
	}
	call := contract.OpenBatchCall(t, n.URL())
	release := held(t, cfg)
	defer release()
	for i := range many + 1 {
		stream := fmt.Sprint("s-", i-1)
		if i == 0 {
			stream = "first"
		}
		if err := call.Send(contract.BatchRequest(stream, 1)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			awaitHeldCommit(t, cfg)
		}
	}
	awaitQueued(t, n, many)
	release()
	for range many + 1 {
		if resp, err := call.Recv(); err != nil || resp.GetSuccess() == nil {
			t.Fatalf("got %v, %v", resp, err)
		}
	}
	var commits, events int
	query(t, cfg, `select count(distinct e.xmin::text), count(*) from {schema}.events e
		join {schema}.streams s on s.id = e.stream_id where s.name like 's-%' and e.revision = 1`, &commits, &events)
	if events != many || commits > 10 {
		t.Errorf("%d events in %d commits", events, commits)
	}
}
