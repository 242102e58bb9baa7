package draw

// kept is the part of a link that keeps the time, the data source, the job and, by $LINKED, the clusters.
const kept = "?${__url_time_range}&${datasource:queryparam}&${job:queryparam}$LINKED"

// ToResource links a series to the dashboard of its resource.
func ToResource() Link {
	const url = "/d/lockscope-resource" + kept + "&var-resource=${__field.labels.resource:percentencode}"
	return Link{Title: "This resource in depth", URL: url}
}

// ToNode links a series to the dashboard of its node.
func ToNode() Link {
	const url = "/d/lockscope-nodes" + kept + "&var-lock_node=${__field.labels.lock_node:percentencode}"
	return Link{Title: "This node", URL: url}
}

// fromRow links a table cell to the dashboard about its value, with the job of the row.
func fromRow(title, board, label string) []Link {
	const job = "?${__url_time_range}&${datasource:queryparam}$LINKED&var-job=${__data.fields.job:percentencode}"
	return []Link{{Title: title, URL: "/d/" + board + job + "&var-" + label + "=${__data.fields." + label +
		":percentencode}"}}
}

// ResourceCell links the name of a resource to its dashboard, with the room that other columns leave.
func ResourceCell() LabelColumn {
	return LabelColumn{Name: "resource", Links: fromRow("This resource in depth", "lockscope-resource", "resource")}
}

// NodeCell links the name of a node to its dashboard.
func NodeCell() LabelColumn {
	return LabelColumn{Name: "lock_node", Links: fromRow("This node", "lockscope-nodes", "lock_node")}
}

// ResourceOfAnyJob is the ResourceCell of a table without jobs.
func ResourceOfAnyJob() LabelColumn {
	return LabelColumn{Name: "resource", Links: []Link{{Title: "This resource in depth",
		URL: "/d/lockscope-resource" + kept + "&var-resource=${__data.fields.resource:percentencode}"}}}
}
