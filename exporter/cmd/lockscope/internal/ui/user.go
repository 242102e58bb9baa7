package ui

import (
	"fmt"
	"os/user"
	"strconv"
)

// UserOf names the user of a cron job or a container, which have no USER. An image may have no name for its uid, and
// Windows, which has USERNAME, has no uid.
func UserOf(uid int) string {
	if uid < 0 {
		return ""
	}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", uid)
}
