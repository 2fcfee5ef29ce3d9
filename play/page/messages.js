// Runs inside a seat's frame, after frame.js: what a message has in Discord and hasn't in simcord's page.
// "Apps" on it, links that jump, a face before its picture is there.
"use strict";
(() => {
  const { asked, headers, faces, kinds, toast, leaveTheEnd, goToTheEnd } = window.play;

  // ---------------------------------------------------------------- "Apps" on a message
  async function loadMenus() {
    const response = await asked("/play/menus", { headers }).catch(() => null);
    return response?.ok ? (await response.json()).menus : [];
  }

  function closeMenu() { document.querySelector(".play-menu")?.remove(); }

  async function openMenu(messageId, right, top) {
    closeMenu();
    const names = await loadMenus();
    closeMenu(); // another one may have been opened meanwhile
    if (!names.length) { toast("The bot offers nothing for messages here."); return; }
    const box = document.createElement("div");
    box.className = "play-menu";
    box.setAttribute("role", "menu");
    box.append(Object.assign(document.createElement("strong"), { textContent: "Apps" }));
    for (const name of names) {
      const item = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      item.setAttribute("role", "menuitem");
      item.addEventListener("click", () => { closeMenu(); void useMenu(messageId, name); });
      box.append(item);
    }
    document.body.append(box);
    box.style.left = `${Math.max(8, Math.min(right, innerWidth - 8) - box.offsetWidth)}px`;
    box.style.top = `${Math.max(8, Math.min(top, innerHeight - box.offsetHeight - 8))}px`;
    box.querySelector("button")?.focus();
  }

  async function useMenu(messageId, name) {
    goToTheEnd();
    const response = await asked("/play/menus", {
      method: "POST", headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ page: window.simcordPreview?.contextId || "", message: messageId, name }),
    }).catch(() => null);
    if (!response?.ok) { toast("The application did not respond."); return; }
    toast((await response.json()).said);
  }

  function messageOf(element) { return element.closest?.("[data-message-id]")?.dataset.messageId; }

  // As in Discord, a right click (or a long touch) on a message opens its menu; links and selected words keep theirs.
  document.addEventListener("contextmenu", (event) => {
    const id = messageOf(event.target);
    const has = document.documentElement.classList.contains("play-has-apps");
    if (!id || !has || event.target.closest("a, img, input, textarea, .component-button") || String(getSelection())) return;
    event.preventDefault();
    void openMenu(id, event.clientX + 190, event.clientY);
  });
  document.addEventListener("click", (event) => { if (!event.target.closest?.(".play-menu")) closeMenu(); });
  document.addEventListener("keydown", (event) => {
    const box = document.querySelector(".play-menu");
    if (!box) return;
    if (event.key === "Escape") closeMenu();
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    const items = [...box.querySelectorAll("button")];
    items.at((items.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)) % items.length)?.focus();
  });

  function furnishMessages() {
    for (const bar of document.querySelectorAll(".message-context-actions:not([data-play])")) {
      bar.dataset.play = "1";
      const id = messageOf(bar);
      if (!id) continue;
      const apps = Object.assign(document.createElement("button"), { type: "button", className: "message-action-button play-apps", textContent: "Apps", title: "What the bot can do with this message" });
      apps.addEventListener("click", (event) => {
        event.stopPropagation();
        const at = apps.getBoundingClientRect();
        void openMenu(id, at.right, at.bottom + 4);
      });
      bar.append(apps);
    }
    point(); // simcord may have drawn the message anew
    // Discord says "(edited)" behind the words; simcord puts it before them, out at the margin.
    for (const edited of document.querySelectorAll(".channel-message > .message-edited-compact")) {
      const words = edited.parentElement.querySelector(":scope > .message-content");
      const last = words?.lastElementChild;
      (last?.matches(".markdown-paragraph") ? last : words)?.append(edited);
    }
    // Discord marks whatever a program says with the same word.
    for (const badge of document.querySelectorAll(".message-app-badge")) {
      if (badge.textContent !== "APP") badge.textContent = "APP";
    }
    // A picture is fetched for itself; until it is there (or when it can't be had) its owner's initial stands in.
    for (const face of document.querySelectorAll(".message-avatar-image:not([data-initial])")) {
      const name = face.closest(".message-header")?.querySelector(".message-author")?.textContent || "?";
      face.dataset.initial = [...name][0].toUpperCase();
      face.style.setProperty("--play-face", faces[name] || "#80848e");
    }
  }

  // ---------------------------------------------------------------- links to channels, threads, messages
  const HERE = /^https:\/\/(?:(?:ptb|canary)\.)?discord(?:app)?\.com\/channels\/(?:\d+|@me)\/(\d+)(?:\/(\d+))?\/?$/;

  let shown = "";
  function drawn(messageId) { return document.querySelector(`#channel-message-list [data-message-id="${CSS.escape(messageId)}"]`); }

  function point() {
    const message = shown && drawn(shown);
    if (!message || message.classList.contains("play-shown")) return;
    message.classList.add("play-shown");
    message.scrollIntoView({ block: "center" });
  }

  function flash(messageId) {
    leaveTheEnd();
    for (const other of document.querySelectorAll(".play-shown")) other.classList.remove("play-shown");
    shown = messageId;
    point();
    setTimeout(() => {
      if (shown === messageId) shown = "";
      document.querySelector(".play-shown")?.classList.remove("play-shown");
    }, 2500);
  }

  // An older message isn't drawn: simcord's own form (hidden here) draws the channel around it.
  function show(messageId) {
    if (!messageId) return;
    const until = Date.now() + 6000;
    let sought = false;
    const refused = () => {
      const last = window.simcordPreview?.lastAction;
      return last?.rejected && last.requestId !== before && kinds.get(last.requestId) === "focus";
    };
    let before = null;
    const look = () => {
      const message = drawn(messageId);
      const ready = window.simcordPreview?.ready;
      if (message && ready) { flash(messageId); return; }
      if (Date.now() > until || (sought && refused())) { toast("That message isn't here any more."); return; }
      if (!message && !sought && ready) {
        sought = true;
        before = window.simcordPreview.lastAction?.requestId;
        leaveTheEnd();
        document.getElementById("message-exact-id").value = messageId;
        document.getElementById("message-exact-form").requestSubmit();
      }
      setTimeout(look, 100);
    };
    look();
  }

  document.addEventListener("click", (event) => {
    const found = HERE.exec(event.target.closest?.("a[href]")?.href || "");
    const thread = event.target.closest?.(".thread-summary");
    // A thread that began at a message has the message's id.
    const target = found?.[1] || (thread && messageOf(thread));
    if (!target) return;
    event.preventDefault();
    parent.postMessage({ play: "open", channel: target, message: found?.[2] || "" }, location.origin);
  }, true);

  Object.assign(window.play, { furnishMessages, show });
})();
