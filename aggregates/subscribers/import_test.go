package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestImport_LostRowsEndItAndTheSameFileBeginsItAgain: what comes late from the round before changes nothing.
func TestImport_LostRowsEndItAndTheSameFileBeginsItAgain(t *testing.T) {
	t.Parallel()
	of, org := id.Derive[id.Import]("test", "import"), id.Derive[id.Organization]("test", "acme")
	now := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	ask := commands.AskImport{ImportID: of, OrgID: org, Rows: 10, Parts: 2, Failed: 1}
	s := decidertest.For(t, subscribers.Imports(), now)
	s.When(commands.LoseImportRows{ImportID: of}).ThenFails("import_not_found")
	s.When(ask).ThenEvents()
	s.When(commands.RecordImportPart{ImportID: of, Created: 3, Skipped: 1}).ThenEvents()
	s.When(commands.AskImportAgain{AskImport: ask, Round: 1}).ThenNothing()
	made := s.When(commands.LoseImportRows{ImportID: of}).ThenEvents()
	lost, ok := made[0].(events.ImportRowsLost)
	if !ok || lost.Failed != 5 || lost.Fault.Message == "" || len(made) != 2 {
		t.Errorf("lost %+v", made)
	}
	if !s.State().Finished {
		t.Error("it has not ended, so it cannot be taken back")
	}
	s.When(commands.LoseImportRows{ImportID: of}).ThenNothing()
	s.When(commands.RecordImportPart{ImportID: of, Part: 1, Created: 5}).ThenNothing()
	s.When(commands.AskImportAgain{AskImport: ask, Round: 1}).ThenEvents()
	s.When(commands.AskImportAgain{AskImport: ask, Round: 2}).ThenNothing()
	s.When(commands.LoseImportRows{ImportID: of}).ThenNothing()
	s.When(commands.RecordImportPart{ImportID: of, Created: 4}).ThenNothing()
	s.When(commands.RecordImportPart{ImportID: of, Round: 1, Created: 4}).ThenEvents()
	s.At(now.Add(commands.ImportStalled)).When(commands.AskImportAgain{AskImport: ask, Round: 2}).ThenEvents()
	for part := range 2 {
		s.When(commands.RecordImportPart{ImportID: of, Round: 2, Part: part, Created: 4}).ThenEvents()
	}
	if !s.State().Finished {
		t.Error("it has not ended")
	}
	s.At(now.Add(2 * commands.ImportStalled)).When(commands.AskImportAgain{AskImport: ask, Round: 3}).ThenNothing()
}

// TestImport_SkippedRowsAreDoneAndOneWithNothingLeftEndsAtOnce, also when it begins again.
func TestImport_SkippedRowsAreDoneAndOneWithNothingLeftEndsAtOnce(t *testing.T) {
	t.Parallel()
	of, org := id.Derive[id.Import]("test", "import"), id.Derive[id.Organization]("test", "acme")
	now := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	ended := events.ImportFinished{ImportID: of, OrgID: org, At: now}
	all := commands.AskImport{ImportID: of, OrgID: org, Rows: 10, Skipped: 9, Failed: 1}
	s := decidertest.For(t, subscribers.Imports(), now)
	s.When(all).Then(events.ImportAsked{ImportID: of, OrgID: org, Rows: 10, Skipped: 9, Failed: 1, At: now}, ended)

	some := commands.AskImport{ImportID: of, OrgID: org, Rows: 10, Parts: 2, Skipped: 4, Failed: 1}
	s = decidertest.For(t, subscribers.Imports(), now)
	s.When(some).ThenEvents()
	made := s.When(commands.LoseImportRows{ImportID: of}).ThenEvents()
	if lost, ok := made[0].(events.ImportRowsLost); !ok || lost.Failed != 5 {
		t.Errorf("lost %+v", made)
	}
	s.When(commands.AskImportAgain{AskImport: all, Round: 1}).Then(events.ImportBegunAgain{
		ImportID: of, OrgID: org, Round: 1, Rows: 10, Skipped: 9, Failed: 1, At: now,
	}, ended)
	if state := s.State(); state.Done != 10 || !state.Finished {
		t.Errorf("%+v", state)
	}
	tooMany := all
	tooMany.Skipped = 10
	if tooMany.Validate() == nil || all.Validate() != nil {
		t.Error("more rows are skipped than there are")
	}
}

// TestExport_OneThatCannotBeMadeEnds, and one that was made stays so.
func TestExport_OneThatCannotBeMadeEnds(t *testing.T) {
	t.Parallel()
	of, org := id.Derive[id.Export]("test", "copy"), id.Derive[id.Organization]("test", "acme")
	now := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	finish := commands.FinishExport{ExportID: of, Parts: 1, Bytes: 9, EndsAt: now.Add(time.Hour)}
	fail := commands.FailExport{ExportID: of, Code: "internal"}
	s := decidertest.For(t, subscribers.Exports(), now)
	s.When(fail).ThenFails("export_not_found")
	s.When(commands.AskExport{ExportID: of, OrgID: org}).ThenEvents()
	s.When(fail).Then(events.ExportFailed{ExportID: of, OrgID: org, Code: "internal", At: now})
	s.When(fail).ThenNothing()
	s.When(commands.FetchExport{ExportID: of}).ThenFails("export_failed")
	s.When(finish).ThenEvents()
	s.When(fail).ThenNothing()
	s.When(commands.FetchExport{ExportID: of}).ThenEvents()
}
