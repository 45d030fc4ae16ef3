package cpejobs_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// scriptServer has scripts by their names, and lets a test do something while one is written.
type scriptServer struct {
	has    map[string]int // versions
	writes int
	during func()
	no     error // to each removal
}

// InstallCustom implements cpejobs.ProvisionServer.
func (s *scriptServer) InstallCustom(_ context.Context, c genieacs.Custom) error {
	s.writes++
	if during := s.during; during != nil {
		s.during = nil
		during()
	}
	s.has[c.Name] = c.Version
	return nil
}

// RemoveCustom implements cpejobs.ProvisionServer.
func (s *scriptServer) RemoveCustom(_ context.Context, name string) error {
	s.writes++
	if s.no == nil {
		delete(s.has, name)
	}
	return s.no
}

// script is the first version of the script of these tests.
func script(org id.Organization) commands.WriteCpeProvision {
	return commands.WriteCpeProvision{
		ProvisionID: commands.CpeProvisionID(org, "a"), OrgID: org, Name: "a", StoredName: "acme-a", Place: 1,
		Tag: "org:acme", Script: "log(1);",
	}
}

// oneScript has a script that was written, and the row that the work sees.
func oneScript(t *testing.T) (*coretest.Kit, *scriptServer, cpejobs.Provisions, *cpeviews.ProvisionRow) {
	t.Helper()
	k := coretest.New(t, clock.System())
	bus.Register(k.Bus, cpe.Provisions())
	write := script(id.New[id.Organization]())
	k.Run(t, coretest.Operator(write.OrgID), write)
	row := &cpeviews.ProvisionRow{
		ID: write.ProvisionID, OrgID: write.OrgID, StoredName: "acme-a", Version: 1, State: cpeviews.ProvisionWaiting,
		Script: write.Script,
	}
	server := &scriptServer{has: map[string]int{}}
	return k, server, cpejobs.Provisions{
		Bus: k.Bus, Server: server, Logger: slog.New(slog.DiscardHandler),
		Row: func(context.Context, id.CPEProvision) (*cpeviews.ProvisionRow, error) {
			now := *row
			return &now, nil
		},
	}, row
}

// TestProvisions_WhoWritesLastLooksForALaterVersion: a version, or a removal, that comes while an older one is written
// is not undone by it, whichever job ends last.
func TestProvisions_WhoWritesLastLooksForALaterVersion(t *testing.T) {
	t.Parallel()
	k, server, work, row := oneScript(t)
	org := row.OrgID
	args := commands.InstallCpeProvision{ProvisionID: row.ID, OrgID: org, Version: 1}
	server.during = func() {
		k.Run(t, coretest.Operator(org), commands.RemoveCpeProvision{ProvisionID: row.ID})
		row.Version, row.State, row.Script = 2, cpeviews.ProvisionRemoving, ""
	}
	if err := work.Install(t.Context(), args, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
		t.Fatal(err)
	}
	got, _, err := bus.LoadOwned[cpe.Provision](t.Context(), k.Bus, org, row.ID)
	if err != nil || len(server.has) != 0 || server.writes != 2 || !got.Settled || got.Version != 2 {
		t.Errorf("the server has %v after %d writes, the log %+v (%v)", server.has, server.writes, got, err)
	}
	late := args
	late.Version = 3
	if err := work.Install(t.Context(), late, jobs.Cause{JobID: id.New[id.Any]()}); err == nil {
		t.Error("a version that cannot be read yet was taken for done")
	}
}

// TestProvisions_OneThatNeverRestsStaysAway: the same version is not brought again, and one that comes meanwhile is.
func TestProvisions_OneThatNeverRestsStaysAway(t *testing.T) {
	t.Parallel()
	k, server, work, row := oneScript(t)
	org := row.OrgID
	bring := func(version int) {
		args := commands.InstallCpeProvision{ProvisionID: row.ID, OrgID: org, Version: version}
		if err := work.Install(t.Context(), args, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(of cpeviews.ProvisionRow) cpe.Provision {
		if err := work.Refuse(t.Context(), of, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
			t.Fatal(err)
		}
		got, _, err := bus.LoadOwned[cpe.Provision](t.Context(), k.Bus, org, row.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	bring(1)
	row.State = cpeviews.ProvisionInstalled
	if got := refuse(*row); len(server.has) > 0 || !got.Refused {
		t.Errorf("the server has %v, the log %+v", server.has, got)
	}
	row.State, row.ErrorCode = cpeviews.ProvisionRefused, null.Of(genieacs.LoopCode)
	server.has["acme-a"] = 1 // the removal was lost
	bring(1)
	if len(server.has) > 0 {
		t.Errorf("the server has %v again", server.has)
	}
	server.has["acme-a"] = 1
	if refuse(*row); len(server.has) > 0 {
		t.Errorf("the server still has %v", server.has)
	}
	before := *row
	before.State, before.ErrorCode = cpeviews.ProvisionInstalled, nil
	write := script(org)
	write.Script = "log(2);"
	k.Run(t, coretest.Operator(org), write)
	row.Version, row.State, row.ErrorCode = 2, cpeviews.ProvisionWaiting, nil
	bring(2)
	if got := refuse(before); server.has["acme-a"] != 2 || got.Refused || !got.Settled {
		t.Errorf("the server has %v, the log %+v", server.has, got)
	}
}

// TestProvisions_ARemovalThatTheServerRefusesIsTriedAgain: the script is not shown as one that the server does not
// take, and not brought again. An earlier program has noted such refusals.
func TestProvisions_ARemovalThatTheServerRefusesIsTriedAgain(t *testing.T) {
	t.Parallel()
	k, server, work, row := oneScript(t)
	org := row.OrgID
	server.has["acme-a"] = 1
	k.Run(t, coretest.Operator(org), commands.RemoveCpeProvision{ProvisionID: row.ID})
	row.Version, row.State, row.Script = 2, cpeviews.ProvisionRemoving, ""
	remove := func() (cpe.Provision, error) {
		args := commands.InstallCpeProvision{ProvisionID: row.ID, OrgID: org, Version: 2}
		failed := work.Install(t.Context(), args, jobs.Cause{JobID: id.New[id.Any]()})
		got, _, err := bus.LoadOwned[cpe.Provision](t.Context(), k.Bus, org, row.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got, failed
	}
	server.no = &genieacs.Refusal{Status: 405, Message: "405 Method Not Allowed"}
	if got, err := remove(); err == nil || got.Refused || got.Settled {
		t.Errorf("refused: the log has %+v (%v)", got, err)
	}
	server.no, row.State, row.ErrorCode = nil, cpeviews.ProvisionRefused, null.Of("refused")
	if got, err := remove(); err != nil || !got.Settled || len(server.has) > 0 {
		t.Errorf("then the server has %v, the log %+v (%v)", server.has, got, err)
	}
}

// TestProvisions_OneThatIsRefusedWhileItIsBroughtIsTakenAwayAgain: it never came to rest on devices that had it.
func TestProvisions_OneThatIsRefusedWhileItIsBroughtIsTakenAwayAgain(t *testing.T) {
	t.Parallel()
	k, server, work, row := oneScript(t)
	args := commands.InstallCpeProvision{ProvisionID: row.ID, OrgID: row.OrgID, Version: 1}
	server.during = func() {
		before := *row
		before.State = cpeviews.ProvisionInstalled
		if err := work.Refuse(t.Context(), before, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
			t.Error(err)
		}
		row.State, row.ErrorCode = cpeviews.ProvisionRefused, null.Of(genieacs.LoopCode)
	}
	if err := work.Install(t.Context(), args, jobs.Cause{JobID: id.New[id.Any]()}); err != nil {
		t.Fatal(err)
	}
	got, _, err := bus.LoadOwned[cpe.Provision](t.Context(), k.Bus, row.OrgID, row.ID)
	if err != nil || len(server.has) > 0 || got.Settled || !got.Refused {
		t.Errorf("the server has %v, the log %+v (%v)", server.has, got, err)
	}
}
