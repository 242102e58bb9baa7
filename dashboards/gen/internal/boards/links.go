package boards

// kept is the part of a link that keeps the time, the data source, the job and, by $LINKED, the clusters.
const kept = "?${__url_time_range}&${datasource:queryparam}&${job:queryparam}$LINKED"

func toResource() link {
	const url = "/d/lockscope-resource" + kept + "&var-resource=${__field.labels.resource:percentencode}"
	return link{Title: "This resource in depth", URL: url}
}

func toNode() link {
	const url = "/d/lockscope-nodes" + kept + "&var-lock_node=${__field.labels.lock_node:percentencode}"
	return link{Title: "This node", URL: url}
}

// fromRow links a table cell to the dashboard about its value, with the job of the row.
func fromRow(title, board, label string) link {
	const job = "?${__url_time_range}&${datasource:queryparam}$LINKED&var-job=${__data.fields.job:percentencode}"
	return link{Title: title, URL: "/d/" + board + job + "&var-" + label + "=${__data.fields." + label +
		":percentencode}"}
}

// ofAnyJob links a table cell whose row has no job.
func ofAnyJob() link {
	return link{Title: "This resource in depth",
		URL: "/d/lockscope-resource" + kept + "&var-resource=${__data.fields.resource:percentencode}"}
}

// resourceCell links the name of a resource to its dashboard, with the room that other columns leave.
func resourceCell() []labelColumn {
	return []labelColumn{{Name: "resource",
		Links: []link{fromRow("This resource in depth", "lockscope-resource", "resource")}}}
}
