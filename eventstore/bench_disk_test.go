package eventstore_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// diskFactor is how often an event's own data and metadata may lie on the disk, without PostgreSQL's log.
const diskFactor = 1.5

// asked is an event with the metadata that a command over HTTP has.
func asked(org id.Organization, by id.User) eventstore.New {
	e := archived("no longer offered")
	e.Meta.AggregateID, e.Meta.Action, e.Meta.OrgID = id.New[id.Any](), "subscribers.ArchivePlan", org
	e.Meta.Actor = events.Actor{Kind: events.ActorUser, ID: by.String(), Role: "admin"}
	e.Meta.IP, e.Meta.RequestID = personal.Of("203.0.113.7"), id.New[id.Any]().String()
	e.Meta.CorrelationID = e.Meta.RequestID
	return e
}

// BenchmarkDisk measures what an event of a command takes on the disk with its part of all indexes and names, of
// 200,000 events in streams of 4, or BENCH_DISK_EVENTS. The limit is one and a half of its data and metadata.
func BenchmarkDisk(b *testing.B) {
	kit, most := storetest.New(b), benchtest.Size(b, "DISK_EVENTS", 200_000)
	org, by := id.New[id.Organization](), id.New[id.User]()
	for range most / 4 {
		list := []eventstore.New{asked(org, by), asked(org, by), asked(org, by), asked(org, by)}
		if _, err := kit.Store.Append(b.Context(), stream(), eventstore.NoStream, list); err != nil {
			b.Fatal(err)
		}
	}
	schema := kit.DB.Namespace.Schema("log")
	var count, own, disk float64
	err := kit.DB.Owner.QueryRow(b.Context(), `select count(*), (
			select sum(octet_length(data) + octet_length(metadata)) from `+schema+`.readable_events),
		pg_total_relation_size('`+schema+`.events') + pg_total_relation_size('`+schema+`.streams')
			+ pg_total_relation_size('`+schema+`.type_blocks')
		from `+schema+`.events`).Scan(&count, &own, &disk)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		benchtest.ReportSize(b, "event", disk/count, diskFactor*own/count, 1)
	}
}
