package embedded_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
)

// TestRefused_WhatElseTheDatabaseRefusesIsTold: another write, for another reason, or the end of the log. The log has
// both causes, and the client hears that the database has answered.
func TestRefused_WhatElseTheDatabaseRefusesIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage []string
		logged string
		answer string
	}{
		"another write": {nil, "another write: ERROR: no other one", "23514"},
		"the end of the log": {
			[]string{`create function {schema}.page() returns boolean language plpgsql as $$ begin
					raise 'invalid page' using errcode = 'XX001'; end $$`,
				`alter table {schema}.events rename to stored`,
				`create view {schema}.events as select * from {schema}.stored where {schema}.page()`},
			"read the end of the log: ERROR: invalid page", "XX001",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			var log bytes.Buffer
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			n := start(t, cfg)
			mustAppend(t, contract.Connect(t, n.URL()), "before", esdb.NoStream{}, oneEvent())
			run(t, cfg, `create function {schema}.refuse() returns trigger language plpgsql as $$ begin
					if {schema}.event_type(new.record) = 'another' then
						raise 'no other one' using errcode = '42501';
					end if;
					raise 'the first one' using errcode = '23514'; end $$`,
				`create trigger refuse before insert on {schema}.events for each row
					execute function {schema}.refuse()`)
			run(t, cfg, c.damage...)
			_, err := contract.Connect(t, n.URL()).AppendToStream(t.Context(), "s", esdb.AppendToStreamOptions{},
				oneEvent())
			answer := unwrapped(err)
			if status.Code(answer) != codes.Unavailable || !strings.Contains(fmt.Sprint(answer), c.answer) {
				t.Errorf("answered %v", answer)
			}
			stop(t, n)
			for _, want := range []string{"the first one", c.logged} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("%q is not in the log:\n%s", want, log.String())
				}
			}
		})
	}
}

// TestRefused_AWriteForWhichThereIsNoRoomMayBeRepeated although a small one is taken.
func TestRefused_AWriteForWhichThereIsNoRoomMayBeRepeated(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	run(t, cfg, `create function {schema}.refuse() returns trigger language plpgsql as $$ begin
			if octet_length(new.record) > 10000 then raise 'refused' using errcode = '53100'; end if;
			return new; end $$`,
		`create trigger refuse before insert on {schema}.events for each row execute function {schema}.refuse()`)
	client := contract.Connect(t, n.URL())
	large := oneEvent()
	large.Data = fmt.Appendf(nil, `"%s"`, strings.Repeat("x", 20_000))
	_, err := client.AppendToStream(t.Context(), "large", esdb.AppendToStreamOptions{}, large)
	wantCode(t, err, esdb.ErrorUnavailable)
	mustAppend(t, client, "small", esdb.NoStream{}, oneEvent())
}
