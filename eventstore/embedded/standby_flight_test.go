package embedded_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// holder is a node that serves, until it vanishes without a word. back brings it back, where that is possible, and
// waits until it has ended.
type holder struct {
	url          string
	vanish, back func()
}

// holders are nodes that vanish in different ways.
var holders = map[string]func(t *testing.T, cfg embedded.Config) holder{
	"is killed": func(t *testing.T, cfg embedded.Config) holder {
		node := startChild(t, pgtest.URL(t), cfg.Schema, storetest.FreeAddr(t), "short silence")
		return holder{node.url, func() { node.kill(t) }, func() {}}
	},
	"is paused": func(t *testing.T, cfg embedded.Config) holder {
		node := startChild(t, pgtest.URL(t), cfg.Schema, storetest.FreeAddr(t), "short silence")
		return holder{node.url, func() { pause(t, node.command.Process) }, func() {
			if err := node.command.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if err := node.command.Wait(); err == nil {
				t.Error("the node ends as if it had been told to")
			}
		}}
	},
	"loses its network": func(t *testing.T, cfg embedded.Config) holder {
		network := newSwallower(t)
		cfg.Pool, cfg.HolderSilence = network.pool(t), shortSilence
		node := start(t, cfg)
		return holder{node.URL(), network.swallow, func() {
			network.heal()
			wantFatal(t, node, "another node has taken over")
		}}
	},
}

// TestStandby_ACommitUnderWayAtTheTakeOverIsInTheLogOnce: a node vanishes while PostgreSQL commits an append of it. The
// commit is finished afterwards, or lost, and the other node takes over only then. The client repeats the append there,
// and the log has it once. The first node acknowledges nothing that is not in the log, also when it comes back.
func TestStandby_ACommitUnderWayAtTheTakeOverIsInTheLogOnce(t *testing.T) {
	t.Parallel()
	for how, begin := range holders {
		for end, lost := range map[string]bool{"the commit is finished": false, "the commit is lost": true} {
			t.Run("the node "+how+", "+end, func(t *testing.T) {
				t.Parallel()
				takenOverDuringACommit(t, begin, lost)
			})
		}
	}
}

// takenOverDuringACommit lets a node vanish during a commit, which is lost or not.
func takenOverDuringACommit(t *testing.T, begin func(*testing.T, embedded.Config) holder, lost bool) {
	t.Helper()
	cfg := testConfig(t)
	first := begin(t, cfg)
	client := stormClient(t, first.url)
	mustAppend(t, client, "before", esdb.NoStream{}, oneEvent())
	next := standBy(t, cfg)
	next.behind(t, first.url)
	release, e := held(t, cfg), oneEvent()
	defer release()
	answer, patient := make(chan error, 1), time.Minute
	go func() {
		_, err := client.AppendToStream(context.Background(), "s",
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}, Deadline: &patient}, e)
		answer <- err
	}()
	awaitHeldCommit(t, cfg)
	first.vanish()
	if lost {
		endHeldCommit(t, cfg)
	}
	release()
	other := contract.Connect(t, next.takesOver(t).URL())
	if r := mustAppend(t, other, "s", esdb.NoStream{}, e); r.NextExpectedVersion != 0 {
		t.Errorf("the repeat is event %d", r.NextExpectedVersion)
	}
	first.back()
	if err := <-answer; err == nil && lost {
		t.Error("an append was acknowledged whose commit was lost")
	}
	wantOnly(t, other, "s", e)
	mustAppend(t, other, "s", esdb.Revision(0), oneEvent())
	wantNoGap(t, cfg)
}
