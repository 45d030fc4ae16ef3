package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// closeField matches the field of a definition that closes its streams into stream periods.
var closeField = regexp.MustCompile(`\bClose:\s+\w`)

// closingDefinitions counts the definitions of the areas that have Close.
func closingDefinitions(t *testing.T) (count int) {
	t.Helper()
	files, err := filepath.Glob("../../aggregates/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources of aggregates: %v", err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			count += len(closeField.FindAll(body, -1))
		}
	}
	return count
}

// written is an event with the metadata that stands in the log, before the codec completes it.
type written struct {
	Stream   string
	Type     string
	Metadata []byte
}

// aggregate gives the aggregate's id in the metadata; zero when the metadata has none.
func (w written) aggregate(t *testing.T) id.Any {
	t.Helper()
	var meta struct {
		AggregateID id.Any `json:"aggregateId"`
	}
	if err := json.Unmarshal(w.Metadata, &meta); err != nil {
		t.Fatalf("metadata of %s: %v", w.Type, err)
	}
	return meta.AggregateID
}

// logged reads the whole log of a store without our client and its codec; the node's own streams are left out.
func logged(t *testing.T, kit *storetest.Kit) (list []written) {
	t.Helper()
	schema := pgx.Identifier{kit.DB.Namespace.Schema("log")}.Sanitize()
	rows, _ := kit.DB.Owner.Query(t.Context(), `select stream, type, metadata
		from `+schema+`.readable_events where stream not like '$%' order by position`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[written])
	if err != nil {
		t.Fatalf("read the log: %v", err)
	}
	return list
}

// live executes the commands of all lives in one organization, on a bus with the program's own definitions. It gives
// the aggregates.
func live(t *testing.T, kit *storetest.Kit, org id.Organization) (targets []commands.Target) {
	t.Helper()
	b := bus.New(bus.Config{
		Store: kit.Store, Claims: storetest.ClaimKey, Clock: clock.System(), Logger: storetest.Quiet(),
		PeriodLength: lifePeriod,
	})
	registerSubscribers(b)
	registerBilling(b)
	registerNetwork(b)
	registerAccess(b)
	registerWebhooks(b)
	registerCPE(b)
	actor := events.Actor{
		Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleAdmin),
	}
	for _, next := range lives(org) {
		for n := range lifeCommands {
			c := next(n)
			meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: org, Actor: actor, IP: "203.0.113.9"}
			if r, err := b.Execute(t.Context(), c, meta); err != nil || !r.Changed {
				t.Fatalf("%s as command %d: %+v, %v", c.CommandName(), n, r, err)
			}
			if n == 0 {
				targets = append(targets, c.Target())
			}
		}
	}
	return targets
}

// TestAggregateID_IsInTheMetadataOfEveryPeriod fills two periods and more of an aggregate of each category that closes
// its streams, and reads the metadata in the log.
func TestAggregateID_IsInTheMetadataOfEveryPeriod(t *testing.T) {
	t.Parallel()
	kit, org := storetest.New(t), id.New[id.Organization]()
	targets := live(t, kit, org)
	if want := closingDefinitions(t); len(targets) != want {
		t.Errorf("%d categories are tested, and %d definitions have Close: give each a life", len(targets), want)
	}
	streams := map[string][]written{}
	for _, w := range logged(t, kit) {
		streams[w.Stream] = append(streams[w.Stream], w)
	}
	for _, target := range targets {
		closed := 0
		for k := 0; ; k++ {
			name := periodOf(target, k)
			list, there := streams[name]
			if !there {
				break
			}
			delete(streams, name)
			for _, w := range list {
				if got := w.aggregate(t); got != target.ID {
					t.Errorf("%s in period %d of %s is of %s", w.Type, k, target.Stream(), got)
				}
			}
			if strings.Contains(list[len(list)-1].Type, "PeriodClosed.") {
				closed++
			}
		}
		if closed < 2 {
			t.Errorf("%s closed %d periods, want 2 or more", target.Stream(), closed)
		}
	}
	if len(streams) == 0 {
		t.Error("no claim was taken")
	}
	for stream, list := range streams { // only claims are left
		for _, w := range list {
			if got := w.aggregate(t); stream != "claim-"+got.String() {
				t.Errorf("%s of %s is of %s", w.Type, stream, got)
			}
		}
	}
}

// periodOf gives the name of the stream of the k-th stream period, from 0, as the bus derives it.
func periodOf(target commands.Target, k int) string {
	if k == 0 {
		return target.Stream()
	}
	return target.Category + "-" + uuid.NewSHA1(target.ID.UUID(), []byte(strconv.Itoa(k))).String()
}

// TestAggregateID_FindsWhatHappenedAfterTheFirstPeriod: after the first stream period the id still finds everything. It
// reads the audit log of each aggregate by its id, and the history of the router.
func TestAggregateID_FindsWhatHappenedAfterTheFirstPeriod(t *testing.T) {
	t.Parallel()
	kit, org := coretest.New(t, clock.System()), id.New[id.Organization]()
	targets := live(t, kit.Kit, org)
	views := kit.Show(t, auditviews.Log{}, networkviews.History{})
	kit.WaitForAll(t, views, auditviews.LogName, networkviews.HistoryName)
	for _, target := range targets {
		rows, err := auditviews.LogQuery{Views: views}.OfOrganization(t.Context(), org,
			auditviews.Filter{TargetType: target.Category, TargetID: target.ID}, auditviews.Key{}, 100)
		if err != nil || len(rows) != lifeCommands {
			t.Errorf("the audit log has %d entries of %s, want %d; %v", len(rows), target.Stream(), lifeCommands, err)
		}
	}
	device := id.As[id.Device](targets[0].ID)
	rows, err := networkviews.HistoryQuery{Views: views}.OfDevice(t.Context(), org, device,
		networkviews.HistoryKey{}, 100)
	if err != nil || len(rows) != lifeCommands-1 { // the history does not show the registration
		t.Errorf("the router's history has %d entries, want %d; %v", len(rows), lifeCommands-1, err)
	}
}
