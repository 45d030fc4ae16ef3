package genieacs

import (
	"context"
	"encoding/json"
	"time"
)

// Transferred tells when a device has last reported that it has taken a file from the file server; zero = never. The
// instant is the server's.
func (s *Server) Transferred(ctx context.Context, id DeviceID, file string) (time.Time, error) {
	if err := firstOf(id.check(), checkFile(file)); err != nil {
		return time.Time{}, err
	}
	var last time.Time
	_, err := list(ctx, s, "read_transfers", selection{
		collection: "devices", query: map[string]any{"_id": id}, fields: []string{"_id", "Downloads"}, limit: 2,
	}, func(d document) error {
		var downloads map[string]json.RawMessage
		d.field("Downloads", &downloads)
		for _, raw := range downloads { // beside the downloads there are notes of the server about their list
			var one struct{ LastFileName wireText }
			if json.Unmarshal(raw, &one) == nil && one.LastFileName.Value == file && one.LastFileName.At.After(last) {
				last = one.LastFileName.At
			}
		}
		return nil
	})
	return last.UTC(), err
}

// wireText is a parameter with a text, and when the server got it.
type wireText struct {
	Value string    `json:"_value"`
	At    time.Time `json:"_timestamp"`
}
