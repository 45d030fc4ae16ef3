package subscriberscases

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// A program without a log fails at each row that makes a customer; the others are worked all the same.
func TestTakeIn_ARowAtWhichTheProgramFailsStopsNoOther(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	phone := "+254712345678"
	taker := rowTaker{
		u:    Imports{Logger: slog.New(slog.NewTextHandler(&log, nil))},
		part: commands.RunImportPart{ImportID: id.Derive[id.Import]("test", "import")},
		taken: map[string]subscribersviews.TakenRow{
			"username=amina": {SubscriberID: id.New[id.Subscriber](), Phone: phone},
		},
	}
	outcomes, err := taker.all(t.Context(), []importRow{
		{Row: 2, FirstName: "Brian", Phone: "+254712345679"},
		{Row: 3, FirstName: "Amina", Phone: phone, Username: "amina"},
	})
	if err != nil || outcomes[0].fault == nil || outcomes[0].fault.Message != brokenRow || !outcomes[1].skipped {
		t.Errorf("%+v, %v", outcomes, err)
	}
	if line := log.String(); strings.Contains(line, "Brian") || !strings.Contains(line, "an item of a batch failed") {
		t.Errorf("log: %s", line)
	}
}
