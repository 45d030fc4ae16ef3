package embedded_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
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

// TestRevival_ACallerIsGoneAfterTheComparisonOfAnother: the others of its batch keep what their comparisons gave, and
// their order.
func TestRevival_ACallerIsGoneAfterTheComparisonOfAnother(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	call := contract.OpenBatchCall(t, n.URL())
	sent := map[string]*streams.BatchAppendReq{}
	send := func(stream string) {
		if err := call.Send(sent[stream]); err != nil {
			t.Fatal(err)
		}
	}
	answers := map[string]*streams.BatchAppendResp{}
	answer := func() {
		resp, err := call.Recv()
		if err != nil {
			t.Fatal(err)
		}
		answers[string(resp.GetStreamIdentifier().GetStreamName())] = resp
	}
	for _, stream := range []string{"gone", "repeated", "new"} {
		sent[stream] = contract.BatchRequest(stream, 1)
		send(stream)
		answer()
		deleteStream(t, client, stream)
	}
	sent["gone"], sent["new"] = contract.BatchRequest("gone", 1), contract.BatchRequest("new", 1)
	sent["gone"].Options.DeadlineOption = &streams.BatchAppendReq_Options_Deadline{
		Deadline: durationpb.New(time.Second),
	}
	sent["first"] = contract.BatchRequest("first", 1)
	release := held(t, cfg)
	defer release()
	send("first")
	awaitHeldCommit(t, cfg)
	unlock := lockedNext(t, cfg)
	for _, stream := range []string{"repeated", "gone", "new"} {
		send(stream)
	}
	awaitQueued(t, n, 3)
	release()
	for range 2 {
		answer()
	}
	unlock()
	for range 2 {
		answer()
	}
	for stream, revision := range map[string]uint64{"repeated": 0, "new": 1} {
		if at := answers[stream].GetSuccess(); at == nil || at.GetCurrentRevision() != revision {
			t.Errorf("the one that is %s got %v", stream, answers[stream])
		}
	}
	var events int
	query(t, cfg, `select count(*) from {schema}.events e join {schema}.streams s on s.id = e.stream_id
		where s.name = 'gone'`, &events)
	if codes.Code(answers["gone"].GetError().GetCode()) != codes.DeadlineExceeded || events != 1 {
		t.Errorf("the one that is gone got %v, and has %d events", answers["gone"], events)
	}
}

// lockedNext waits in line for the table of events, behind a commit that is held, so that no statement after that one
// goes on before unlock.
func lockedNext(t *testing.T, cfg embedded.Config) (unlock func()) {
	t.Helper()
	table, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	locked := make(chan error, 1)
	go func() {
		_, err := table.Exec(t.Context(), inSchema(cfg, `lock table {schema}.events in access exclusive mode`))
		locked <- err
	}()
	began := time.Now()
	for waiting := 0; waiting == 0; {
		if time.Since(began) > time.Minute {
			t.Fatal("the lock does not wait")
		}
		query(t, cfg, `select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock' and
			relation = '{schema}.events'::regclass`, &waiting)
	}
	unlock = sync.OnceFunc(func() {
		if err := <-locked; err != nil {
			t.Error(err)
		}
		_ = table.Rollback(context.Background())
	})
	t.Cleanup(unlock)
	return unlock
}

// TestRevival_LargeMetadataIsWrittenAgain, which is not in memory: of streams that were deleted since the node started,
// and of others.
func TestRevival_LargeMetadataIsWrittenAgain(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	bodies := map[string]string{}
	for i := range 6 {
		stream, e := fmt.Sprint("s-", i), oneEvent()
		bodies[stream] = fmt.Sprintf(`"x":"%d-%s"`, i, strings.Repeat("x", 5000))
		e.EventType, e.Data = "$metadata", []byte(`{"$tb":9223372036854775807,`+bodies[stream]+`}`)
		mustAppend(t, client, stream, esdb.NoStream{}, oneEvent())
		mustAppend(t, client, "$$"+stream, esdb.NoStream{}, e)
	}
	revive := func(n *embedded.Node, first int) {
		t.Helper()
		call := contract.OpenBatchCall(t, n.URL())
		release := held(t, cfg)
		defer release()
		for i, stream := range []string{fmt.Sprint("first-", first), "s-0", "s-1", "s-2"} {
			if i > 0 {
				stream = fmt.Sprint("s-", first+i-1)
			}
			req := contract.BatchRequest(stream, 1)
			if first == 0 || i == 1 {
				req.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_Any{Any: &emptypb.Empty{}}
			}
			if err := call.Send(req); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				awaitHeldCommit(t, cfg)
			}
		}
		awaitQueued(t, n, 3)
		release()
		for range 4 {
			if resp, err := call.Recv(); err != nil || resp.GetSuccess() == nil {
				t.Fatalf("got %v, %v", resp, err)
			}
		}
	}
	revive(n, 0)
	stop(t, n)
	revive(start(t, cfg), 3)
	for stream, body := range bodies {
		var last string
		query(t, cfg, `select convert_from({schema}.event_data(e.record), 'UTF8') from {schema}.events e
			join {schema}.streams s on s.id = e.stream_id where s.name = '$$`+stream+`' and e.revision = 1`, &last)
		if last != `{"$tb":1,`+body+`}` {
			t.Errorf("the metadata of %s is %.60s", stream, last)
		}
	}
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
