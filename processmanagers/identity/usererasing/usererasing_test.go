package usererasing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/identity/usererasing"
)

func TestUserErasing_AsksForTheJobOfTheUser(t *testing.T) {
	t.Parallel()
	user := id.New[id.User]()
	processtest.For(t, usererasing.Process(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)).
		When(events.UserForgotten{UserID: user}).
		Then(processmanagers.Output{Jobs: []commands.Job{commands.EraseUser{UserID: user}}}).ThenEnded()
}
