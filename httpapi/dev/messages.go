package devapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Messages serves /dev/messages: what would have been sent if a gateway were set. Everybody may read it, because a code
// to sign in with is read there before anybody has signed in.
type Messages struct {
	// List gives the newest messages of an organization, or of all for a zero id; to chooses one address.
	List func(ctx context.Context, org id.Organization, to string, max int) ([]vault.OutboxMessage, error)
}

// maxMessages bounds one answer; the newest ones are in it.
const maxMessages = 1000

// messagesResponse lists messages, newest first.
type messagesResponse struct {
	Data []outgoingMessage `json:"data"`
}

// outgoingMessage is one message with its whole text.
type outgoingMessage struct {
	At       time.Time `json:"at"`
	Channel  string    `json:"channel" enum:"sms,email"`
	To       string    `json:"to"`
	Template string    `json:"template"`
	Subject  string    `json:"subject" doc:"empty for sms"`
	Text     string    `json:"text"`
}

// Routes lists the endpoints.
func (a Messages) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/dev/messages", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
		Summary: "Messages that would have been sent, newest first", Response: messagesResponse{},
		Query:  []httpapi.Param{{Name: "to", Type: "string", Doc: "phone number or e-mail address"}},
		Handle: a.list,
	}}
}

// list answers with the messages of the host's organization; on the root host with those of all.
func (a Messages) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	to := f.Text("to")
	if err := f.Err(); err != nil {
		return err
	}
	list, err := a.List(ctx, c.Org.ID, to, maxMessages)
	if err != nil {
		return err
	}
	out := messagesResponse{Data: []outgoingMessage{}}
	for _, m := range list {
		out.Data = append(out.Data, outgoingMessage{
			At: m.At.UTC(), Channel: m.Channel, To: m.To, Template: m.Template, Subject: m.Subject, Text: m.Text,
		})
	}
	return c.Send(http.StatusOK, out)
}
