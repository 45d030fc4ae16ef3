package embedded_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// seemingSettings is the configuration of a node that sees other settings of the server, which the test changes by set:
// the real ones belong to all tests. What the node looks at is a view of the test's, found before that of PostgreSQL.
func seemingSettings(t *testing.T) (node embedded.Config, set func(name, value string)) {
	t.Helper()
	cfg := testConfig(t)
	seen := cfg.Schema + "_seen"
	run(t, cfg, `create schema `+seen, `create table `+seen+`.changed (name text primary key, setting text)`,
		`create view `+seen+`.pg_settings as
			select p.name, coalesce(c.setting, p.setting) as setting
			from pg_catalog.pg_settings p left join `+seen+`.changed c using (name)`)
	t.Cleanup(func() { _, _ = cfg.Pool.Exec(context.Background(), `drop schema `+seen+` cascade`) })
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = cfg.Schema
	config.ConnConfig.RuntimeParams["search_path"] = seen + ", pg_catalog"
	set = func(name, value string) {
		t.Helper()
		run(t, cfg, `insert into `+seen+`.changed values ('`+name+`', '`+value+`')
			on conflict (name) do update set setting = excluded.setting`)
	}
	node = cfg
	if node.Pool, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Pool.Close)
	set("fsync", "on")
	set("full_page_writes", "on")
	return node, set
}

// TestDurable_ProductionWantsAllThatSurvivesPowerLoss: also a node that stands by looks, when its turn has come.
func TestDurable_ProductionWantsAllThatSurvivesPowerLoss(t *testing.T) {
	t.Parallel()
	cfg, set := seemingSettings(t)
	cfg.Production, cfg.TLS, cfg.Username, cfg.Password = true, selfSigned(t), "u", "p"
	for _, off := range []string{"fsync", "full_page_writes"} {
		set(off, "off")
		for _, cfg.Standby = range []bool{false, true} {
			n, err := embedded.Start(t.Context(), cfg)
			if err == nil {
				stop(t, n)
			}
			if err == nil || !strings.Contains(err.Error(), "PostgreSQL runs with "+off+" off") {
				t.Errorf("%s, standby %t: %v", off, cfg.Standby, err)
			}
		}
		set(off, "on")
	}
	start(t, cfg)
}

// TestDurable_ProductionEndsWhenPagesAreNotWrittenInFullAnyMore: the settings are looked at again with each new
// session, because a server may come back with other ones.
func TestDurable_ProductionEndsWhenPagesAreNotWrittenInFullAnyMore(t *testing.T) {
	t.Parallel()
	cfg, set := seemingSettings(t)
	cfg.Production, cfg.TLS, cfg.Username, cfg.Password = true, selfSigned(t), "u", "p"
	n := start(t, cfg)
	set("full_page_writes", "off")
	endSessions(t, cfg)
	wantFatal(t, n, "PostgreSQL runs with full_page_writes off")
}

// endSessions ends the sessions of a node that has a name of its own. It opens new ones.
func endSessions(t *testing.T, cfg embedded.Config) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
		where application_name = $1`, cfg.Schema); err != nil {
		t.Fatal(err)
	}
}

// TestDurable_ElsewhereEachChangeIsToldOnce: a node that is not in production goes on, and warns.
func TestDurable_ElsewhereEachChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	cfg, set := seemingSettings(t)
	log := &counted{Handler: quiet().Handler(), lines: map[string]int{}}
	cfg.Logger = slog.New(log)
	n := start(t, cfg)
	client := stormClient(t, n.URL())
	for _, step := range []struct {
		pages string
		told  int
	}{{"on", 0}, {"off", 1}, {"off", 1}, {"on", 1}, {"off", 2}} {
		set("full_page_writes", step.pages)
		endSessions(t, cfg)
		mustAppend(t, client, "s", esdb.Any{}, oneEvent()) // after it there is a new session
		if told := log.count("event store database can lose events in a power loss"); told != step.told {
			t.Errorf("with full pages %s it was told %d times, want %d", step.pages, told, step.told)
		}
	}
	wantAlive(t, n)
}
