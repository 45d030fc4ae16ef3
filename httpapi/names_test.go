package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// letter is a resource that names an envelope of another read model.
type letter struct {
	ID       id.Any  `json:"id"`
	Envelope *string `json:"envelopeId"`
}

// letters are endpoints whose answer names an envelope. shown says whether the envelope can be read in time.
func letters(shown bool, waits *int) []httpapi.Route {
	one := httpapi.One[id.Any, letter, letter]{
		Model: "letters", Missing: func() error { return failure.NewNotFound("letter_not_found", "No such letter.") },
		Read: func(_ context.Context, _ id.Organization, i id.Any) (*letter, error) {
			envelope := "e1"
			return &letter{ID: i, Envelope: &envelope}, nil
		},
		Show: func(l letter) letter { return l },
		Names: []httpapi.Name[letter]{{
			Wait: func(context.Context, id.Organization, letter) (bool, error) {
				*waits++
				return shown, nil
			},
			Withhold: func(l *letter) { l.Envelope = nil },
		}},
	}
	return []httpapi.Route{
		{
			Method: "POST", Path: "/letters", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Make", Response: letter{}, Status: 201,
			Handle: func(ctx context.Context, c *httpapi.Call) error {
				return httpapi.SendOne(ctx, c, 201, one, id.New[id.Any](), bus.Result{})
			},
		},
		{
			Method: "GET", Path: "/letters/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Read", Response: letter{},
			Handle: func(ctx context.Context, c *httpapi.Call) error { return httpapi.ReadOne(ctx, c, one) },
		},
	}
}

func TestSendOne_AnAnswerNamesOnlyWhatCanBeRead(t *testing.T) {
	t.Parallel()
	for shown, want := range map[bool]string{true: `"envelopeId":"e1"`, false: `"envelopeId":null`} {
		waits := 0
		k := apitest.New(t, nil, letters(shown, &waits))
		got := k.Do(t, apitest.Request{Method: "POST", Path: "/letters", As: apitest.Admin})
		if got.Status != 201 || !strings.Contains(string(got.Body), want) || waits != 1 {
			t.Errorf("shown %t: %d %s after %d waits", shown, got.Status, got.Body, waits)
		}
		path := "/letters/" + id.New[id.Any]().String()
		got = k.Do(t, apitest.Request{Method: "GET", Path: path, As: apitest.Admin})
		if got.Status != 200 || !strings.Contains(string(got.Body), `"envelopeId":"e1"`) || waits != 1 {
			t.Errorf("a read waits for nothing: %d %s after %d waits", got.Status, got.Body, waits)
		}
	}
}
