package importing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/importing"
)

// The import of the tests.
var (
	now  = time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	file = id.Derive[id.Import]("test", "file")
	org  = id.Derive[id.Organization]("test", "acme")
)

func TestImporting_PartsComeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	part := func(n int) processmanagers.Output {
		return processmanagers.Output{Jobs: []commands.Job{commands.RunImportPart{OrgID: org, ImportID: file, Part: n}}}
	}
	s := processtest.For(t, importing.Process(), now)
	s = s.When(events.ImportAsked{ImportID: file, OrgID: org, Parts: 2}).Then(part(0))
	s = s.When(events.ImportPartDone{ImportID: file, OrgID: org, Part: 0}).Then(part(1))
	s = s.When(events.ImportPartDone{ImportID: file, OrgID: org, Part: 1}).ThenNothing()
	s.When(events.ImportFinished{ImportID: file, OrgID: org}).ThenNothing()
	processtest.For(t, importing.Process(), now).When(events.ImportAsked{ImportID: file, OrgID: org}).ThenNothing()
	processtest.CheckKeys(t, importing.Process(), file.String(), events.ImportAsked{ImportID: file},
		events.ImportPartDone{ImportID: file}, events.ImportFinished{ImportID: file},
		events.ImportBegunAgain{ImportID: file})
}

func TestImporting_OneThatBeginsAgainGoesThroughAllParts(t *testing.T) {
	t.Parallel()
	part := func(n int) processmanagers.Output {
		return processmanagers.Output{Jobs: []commands.Job{
			commands.RunImportPart{OrgID: org, ImportID: file, Part: n, Round: 1},
		}}
	}
	s := processtest.For(t, importing.Process(), now)
	s = s.When(events.ImportBegunAgain{ImportID: file, OrgID: org, Round: 1, Parts: 2}).Then(part(0))
	s = s.When(events.ImportPartDone{ImportID: file, OrgID: org, Part: 0}).Then(part(1))
	s.When(events.ImportPartDone{ImportID: file, OrgID: org, Part: 1}).ThenNothing()
}
