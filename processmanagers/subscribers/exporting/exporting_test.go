package exporting_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/exporting"
)

func TestExporting_TheCopyIsAskedForOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	of, org := id.Derive[id.Export]("test", "copy"), id.Derive[id.Organization]("test", "acme")
	s := processtest.For(t, exporting.Process(), now)
	out := s.When(events.ExportAsked{ExportID: of, OrgID: org}).Output()
	if len(out.Jobs) != 1 {
		t.Fatalf("asks for %+v", out)
	}
	if job, ok := out.Jobs[0].(commands.RunExport); !ok || job.ExportID != of || job.OrgID != org {
		t.Errorf("asks for %+v", out.Jobs[0])
	}
	s.When(events.ExportFinished{ExportID: of, OrgID: org}).Then(processmanagers.Output{})
	processtest.CheckKeys(t, exporting.Process(), of.String(), events.ExportAsked{ExportID: of},
		events.ExportFinished{ExportID: of}, events.ExportFailed{ExportID: of})
}
