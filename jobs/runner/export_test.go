package jobrunner

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
)

// DeadAfterForTest is the age at which River takes an attempt of a kind with this limit for one whose program died.
func DeadAfterForTest(limit time.Duration) time.Duration {
	return (&worker[commands.CheckDrift]{opts: Options{Timeout: limit}}).Timeout(nil)
}

// QuietForTest makes the logger that River gets.
var QuietForTest = newQuiet
